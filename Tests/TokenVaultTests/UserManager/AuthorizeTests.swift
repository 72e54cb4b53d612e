import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// Requests to APIs: what is added to them, where they may go, and what their replies mean.
struct AuthorizeTests {
    private static let dpop = HTTPField.Name.dpop
    private static let nonceField = HTTPField.Name.dpopNonce

    private func request(_ scheme: String = "https", _ authority: String = "api.example", _ path: String = "/me?x=1")
        -> HTTPRequest
    {
        HTTPRequest(method: .put, scheme: scheme, authority: authority, path: path)
    }

    private func claims(_ request: HTTPRequest) throws -> String {
        let proof = try #require(request.headerFields[Self.dpop])
        return String(decoding: try #require(Base64URL.decode(proof.split(separator: ".")[1])), as: UTF8.self)
    }

    private func reply(
        _ status: HTTPResponse.Status, challenge: String? = nil, nonce: String? = nil, date: String? = nil
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headerFields[.wwwAuthenticate] = challenge
        response.headerFields[Self.nonceField] = nonce
        response.headerFields[.date] = date
        return response
    }

    @Test func aBearerTokenGoesIntoTheHeader() async throws {
        let world = try await World()
        try await world.addChain()
        var request = request()
        request.headerFields[.authorization] = "Basic old"
        request.headerFields[Self.dpop] = "old"
        let token = try await world.users.authorize(&request, for: .user("alice"))
        #expect(request.headerFields[values: .authorization] == ["Bearer CANARY-access-1"])
        #expect(request.headerFields[Self.dpop] == nil)
        #expect(token.name == "1")
        #expect(request.headerFields.first { $0.name == .authorization }?.indexingStrategy == .disallow)
    }

    @Test func aBoundTokenGoesWithAProofForThisRequest() async throws {
        let world = try await World()
        let key = DPoPKey.generate()
        let login = try await world.addChain(dpopKey: key)
        var request = request("https", "API.example:443", "/a%2Fb?secret=1")
        try await world.users.authorize(&request, for: .login(login.id))
        #expect(request.headerFields[values: .authorization] == ["DPoP CANARY-access-1"])
        let first = try claims(request)
        #expect(first.contains(#""htm":"PUT""#))
        #expect(first.contains(#""htu":"https://api.example/a%2Fb""#))
        #expect(first.contains(#""ath":"\#(DPoPProof.hash(of: Sample.accessToken()))""#))
        #expect(!first.contains("nonce"))
        try await world.users.authorize(&request, for: .login(login.id))
        #expect(try claims(request) != first)
        #expect(request.headerFields[values: Self.dpop].count == 1)
    }

    @Test(arguments: [
        ("http", "api.example", "/"), ("ftp", "api.example", "/"), ("https", "a@api.example", "/"),
        ("https", "api.example", "/#x"), ("https", "api.example", "/ x"), ("http", "127.0.0.1.example", "/"),
        ("https", "", "/"), ("https", "api.example/evil", ""), ("https", "api.example", "@evil.example/"),
        ("https", "api.example", ".evil.example/"), ("https", "api.example?x", "/"), ("https", "api.example", ""),
    ])
    func aTokenGoesNowhereElse(_ scheme: String, _ authority: String, _ path: String) async throws {
        let world = try await World()
        try await world.addChain()
        var request = request(scheme, authority, path)
        let before = request
        #expect(await code { try await world.users.authorize(&request, for: .user("alice")) } == .invalidArgument)
        #expect(request == before)
    }

    @Test func aTokenIsRenewedFirst() async throws {
        let world = try await World()
        try await world.addChain()
        world.expire()
        world.transport.enqueue(.generation("2"))
        var request = request()
        try await world.users.authorize(&request, for: .user("alice"))
        #expect(request.headerFields[.authorization] == "Bearer CANARY-access-2")
    }

    @Test func noncesOfTheTwoServersAndOfOtherOriginsAreNotMixed() async throws {
        let world = try await World(provider: Sample.provider(dpop: .required))
        let login = try await world.addChain(dpopKey: .generate())
        // The API has the authorization server's own origin.
        var request = request("https", "acme.example")
        let token = try await world.users.authorize(&request, for: .login(login.id))
        await #expect(world.users.read(reply(.ok, nonce: "rs-1"), to: request, authorizedWith: token) == .final)
        try await world.users.authorize(&request, with: token)
        #expect(try claims(request).contains(#""nonce":"rs-1""#))
        var other = self.request()
        try await world.users.authorize(&other, with: token)
        #expect(try !claims(other).contains("nonce"))
        // The refresh goes without it, and what it learns stays there.
        world.transport.enqueue(
            .json(
                #"{"access_token":"CANARY-access-2","token_type":"DPoP","expires_in":3600}"#,
                headers: [Self.nonceField: "as-1"]))
        let newer = try await world.users.accessToken(for: .login(login.id), .renewed)
        #expect(try !claims(try #require(world.transport.requests.last?.request)).contains("rs-1"))
        try await world.users.authorize(&request, with: newer)
        #expect(try claims(request).contains(#""nonce":"rs-1""#))
    }

    @Test func repliesMeanWhatTheirChallengesSay() async throws {
        let world = try await World()
        let bearer = try await world.addChain(user: "bearer")
        let bound = try await world.addChain(user: "bound", name: "2", dpopKey: .generate())
        let useNonce = #"Bearer realm="a, b", DPoP algs="ES256", error="use_dpop_nonce""#
        let cases: [(LoginID, HTTPResponse, ResourceReply)] = [
            (bound.id, reply(.unauthorized, challenge: useNonce, nonce: "n1"), .wantsNewProof),
            (bound.id, reply(.unauthorized, challenge: useNonce), .final),
            (bound.id, reply(.forbidden, challenge: useNonce, nonce: "n2"), .final),
            (bearer.id, reply(.unauthorized, challenge: useNonce, nonce: "n3"), .final),
            (bearer.id, reply(.unauthorized, challenge: #"Bearer error="invalid_token""#), .refusedToken),
            (bound.id, reply(.unauthorized, challenge: #"DPoP error=invalid_token, algs="ES256""#), .refusedToken),
            (
                bearer.id, reply(.unauthorized, challenge: #"Bearer error="insufficient_scope", scope="a b""#),
                .needsScope(try Scope("a b"))
            ),
            (
                bound.id, reply(.forbidden, challenge: #"Basic x="y", DPoP error="insufficient_scope""#),
                .needsScope(try Scope(tokens: []))
            ),
            (bearer.id, reply(.notFound, challenge: #"Bearer error="insufficient_scope""#), .final),
            (bearer.id, reply(.unauthorized, challenge: #"Basic error="invalid_token""#), .final),
            (bearer.id, reply(.unauthorized), .final), (bearer.id, reply(.ok), .final),
            (bound.id, reply(.unauthorized, challenge: "DPoP error=invalid_dpop_proof"), .final),
            (bound.id, reply(.unauthorized, challenge: "DPoP error=invalid_dpop_proof", nonce: "n4"), .wantsNewProof),
        ]
        for (login, response, expected) in cases {
            var request = request()
            let token = try await world.users.authorize(&request, for: .login(login))
            await #expect(world.users.read(response, to: request, authorizedWith: token) == expected, "\(response)")
        }
        // The nonce that was sent is no new one: that would go round for ever.
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(bound.id))
        #expect(try claims(request).contains(#""n4""#))
        let again = reply(.unauthorized, challenge: useNonce, nonce: "n4")
        await #expect(world.users.read(again, to: request, authorizedWith: token) == .final)
    }

    /// Under another scheme, with 400, in the body alone, and behind a challenge of another scheme.
    @Test func aNonceIsTakenInWhateverWayItIsAskedFor() async throws {
        let world = try await World()
        let bound = try await world.addChain(user: "bound", name: "2", dpopKey: .generate())
        let inBody = Array(#"{"error":"use_dpop_nonce","error_description":"d"}"#.utf8)
        let other = Array(#"{"error":"bad"}"#.utf8)
        let cases: [(HTTPResponse, [UInt8]?, ResourceReply)] = [
            (reply(.unauthorized, challenge: #"Bearer error="use_dpop_nonce""#, nonce: "a1"), nil, .wantsNewProof),
            (reply(.badRequest, challenge: #"DPoP error="use_dpop_nonce""#, nonce: "a2"), nil, .wantsNewProof),
            (reply(.unauthorized, nonce: "a3"), inBody, .wantsNewProof),
            (reply(.badRequest, nonce: "a4"), inBody, .wantsNewProof),
            (
                reply(
                    .unauthorized, challenge: #"Bearer error="invalid_token", DPoP error="use_dpop_nonce""#, nonce: "a5"
                ), nil, .wantsNewProof
            ),
            (reply(.badRequest, nonce: "a6"), other, .final), (reply(.badRequest), inBody, .final),
            (reply(.forbidden, nonce: "a7"), inBody, .final),
        ]
        for (response, body, expected) in cases {
            var request = request()
            let token = try await world.users.authorize(&request, for: .login(bound.id))
            let isNew = body != nil && response.status != .forbidden && response.headerFields[.dpopNonce] != nil
            let authorized = try await world.users.authorize(request, with: token)
            await #expect(authorized.needsBody(of: response) || !isNew, "\(response)")
            await #expect(
                world.users.read(response, to: request, authorizedWith: token, body: body) == expected, "\(response)")
        }
        // The same nonce again would go round for ever.
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(bound.id))
        #expect(try claims(request).contains(#""a6""#) || claims(request).contains(#""a7""#))
        let again = reply(.badRequest, nonce: try claims(request).contains(#""a7""#) ? "a7" : "a6")
        await #expect(world.users.read(again, to: request, authorizedWith: token, body: inBody) == .final)
    }

    // MARK: What providers say in their own ways

    private func world(profile: String) async throws -> World {
        var registration = Sample.provider()
        registration.profile = profile
        return try await World(provider: registration)
    }

    private func json(
        _ status: HTTPResponse.Status, length: Int? = nil, type: String = "application/json; charset=utf-8"
    )
        -> HTTPResponse
    {
        var response = HTTPResponse(status: status)
        response.headerFields[.contentType] = type
        response.headerFields[.contentLength] = length.map { String($0) }
        return response
    }

    @Test(arguments: [
        ("github", true), ("hubspot", true), ("salesforce", true), ("generic", false), ("slack", false),
    ])
    func aBare401IsARefusedTokenWhereTheProfileSaysSo(profile: String, isRefusal: Bool) async throws {
        let world = try await world(profile: profile)
        let login = try await world.addChain()
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(login.id))
        let expected: ResourceReply = isRefusal ? .refusedToken : .final
        for challenge in [nil, #"Bearer realm="x""#, "Token"] {
            let refusal = reply(.unauthorized, challenge: challenge)
            await #expect(world.users.read(refusal, to: request, authorizedWith: token) == expected)
        }
        let narrow = reply(.unauthorized, challenge: #"Bearer error="insufficient_scope", scope="a""#)
        let scope = try Scope("a")
        await #expect(world.users.read(narrow, to: request, authorizedWith: token) == .needsScope(scope))
        for response in [reply(.forbidden), reply(.notFound)] {
            await #expect(world.users.read(response, to: request, authorizedWith: token) == .final)
        }
        #expect(try await !world.users.authorize(request, with: token).needsBody(of: json(.unauthorized)))
    }

    @Test func aCodeInABodyIsARefusedTokenWhereTheProfileSaysSo() async throws {
        let world = try await world(profile: "slack")
        let login = try await world.addChain()
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(login.id))
        let users = world.users
        let authorized = try await users.authorize(request, with: token)
        #expect(await authorized.needsBody(of: json(.ok, length: 10)))
        #expect(await authorized.needsBody(of: json(.ok)))
        #expect(await !authorized.needsBody(of: json(.ok, length: 10, type: "application/json-seq")))
        #expect(await authorized.needsBody(of: json(.ok, length: 65_536)))
        #expect(await !authorized.needsBody(of: json(.ok, length: 65_537)))
        #expect(await !authorized.needsBody(of: json(.ok, length: 10, type: "image/png")))
        #expect(await !authorized.needsBody(of: json(.notFound, length: 10)))
        for (body, expected) in [
            (#"{"ok":false,"error":"token_expired"}"#, ResourceReply.refusedToken), (#"{"ok":true}"#, .final),
            (#"{"ok":false,"error":"channel_not_found"}"#, .final), ("token_expired", .final),
            (#"{"ok":false,"error":{"error":"token_expired"}}"#, .final),
        ] {
            let meaning = await users.read(
                json(.ok, length: 10), to: request, authorizedWith: token, body: Array(body.utf8))
            #expect(meaning == expected, "\(body)")
        }
        await #expect(users.read(json(.ok), to: request, authorizedWith: token) == .final)
    }

    @Test func aTokenIsNotSentInTheClearToThisMachineEither() async throws {
        let world = try await World()
        try await world.addChain()
        for authority in ["127.0.0.1:8080", "localhost", "[::1]:80"] {
            var request = request("http", authority)
            #expect(
                await code { try await world.users.authorize(&request, for: .user("alice")) } == .invalidArgument)
            #expect(request.headerFields[.authorization] == nil)
        }
        let users = try await UserManager(
            vault: world.vault, transport: world.transport,
            options: UserManagerOptions(recoveryInterval: nil, allowsInsecureLoopback: true))
        var request = request("http", "127.0.0.1:8080")
        try await users.authorize(&request, for: .user("alice"))
        #expect(request.headerFields[.authorization] == "Bearer CANARY-access-1")
        var elsewhere = self.request("http", "api.example")
        #expect(await code { try await users.authorize(&elsewhere, for: .user("alice")) } == .invalidArgument)
    }

    @Test func theServersClockIsLearnedForProofsOnly() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(login.id))
        let refusal = reply(
            // The world's clock stands at 1 800 000 000, which is 08:00:00.
            .unauthorized, challenge: "DPoP error=invalid_dpop_proof", date: "Fri, 15 Jan 2027 08:01:40 GMT")
        let meaning = await world.users.read(refusal, to: request, authorizedWith: token, startedAt: world.now)
        #expect(meaning == .wantsNewProof)
        try await world.users.authorize(&request, with: token)
        #expect(try claims(request).contains(#""iat":1800000100"#))
        // The same clock a second time is no news.
        await #expect(world.users.read(refusal, to: request, authorizedWith: token, startedAt: world.now) == .final)
        #expect(try await world.users.accessToken(for: .login(login.id)).expiresAt == token.expiresAt)
    }

    @Test func aTokenWhoseKeyIsGoneIsNotSent() async throws {
        let world = try await World()
        let login = try await world.addChain(dpopKey: .generate())
        var request = request()
        let token = try await world.users.authorize(&request, for: .login(login.id))
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: nil,
            refreshToken: Sample.refreshToken("2"))
        #expect(await code { try await world.users.authorize(&request, with: token) } == .conflict)
    }
}
