import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// The page's middleware, with requests as a generated client makes them: without scheme and authority.
struct GeneratedClientTests {
    /// A client's call, whose transport joins base URL and path as swift-openapi-async-http-client does.
    private func call(
        _ world: ScriptedWorld, at base: String = "https://api.example/v1", body: HTTPBody? = nil
    ) async throws -> HTTPResponse.Status {
        let middleware = TokenMiddleware(users: world.users, login: .user("alice"))
        let api = world.api
        let (response, _) = try await middleware.intercept(
            HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/notes?x=1"), body: body,
            baseURL: try #require(URL(string: base)), operationID: "addNote"
        ) { request, body, baseURL in
            #expect(request.scheme == nil && request.authority == nil && request.path == "/notes?x=1")
            var request = request
            request.scheme = baseURL.scheme
            request.authority = baseURL.host()
            request.path = baseURL.path() + (request.path ?? "")
            let reply = try await api.send(request, body: body?.bytes ?? [], limits: HTTPLimits())
            return (reply.response, HTTPBody(String(decoding: reply.body, as: UTF8.self), .single))
        }
        return response.status
    }

    @Test func aBareRequestGetsTokenAndProof() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin(key: .generate())
        world.api.enqueue(.nonceChallenge("nonce-1"), .status(.created), .status(.created))
        #expect(try await call(world, body: HTTPBody("note")) == .created)
        // A slash at the end of the base URL is doubled on the wire, and in the proof.
        #expect(try await call(world, at: "https://api.example/") == .created)
        let proofs = try world.api.requests.map { try ProofClaims($0.request.headerFields[.dpop]) }
        #expect(proofs.map(\.nonce) == [nil, "nonce-1", "nonce-1"])
        #expect(
            proofs.map(\.htu) == [
                "https://api.example/v1/notes", "https://api.example/v1/notes", "https://api.example//notes",
            ])
        #expect(
            world.api.requests.map { $0.request.path ?? "" } == ["/v1/notes?x=1", "/v1/notes?x=1", "//notes?x=1"])
        #expect(world.api.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["note", "note", ""])
    }

    @Test func aRejectedTokenIsRenewedOnce() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.fallback = .invalidToken()
        #expect(try await call(world) == .unauthorized)
        #expect(
            world.fields(.authorization) == ["Bearer CANARY-access-1", "Bearer CANARY-access-fresh-1"])
        world.api.fallback = .status(.created)
        #expect(try await call(world) == .created)
    }

    @Test func theEndOfALoginIsThrown() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.provider.simulate(.permanent)
        world.api.fallback = .invalidToken()
        await #expect { _ = try await call(world) } throws: { ($0 as? VaultError)?.code == .refreshFailed }
    }

    @Test func aBodyThatCanBeReadOnceIsSentOnce() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.invalidToken(), .status(.created))
        #expect(try await call(world, body: HTTPBody("note", .single)) == .unauthorized)
        #expect(world.api.requestCount == 1)
        #expect(try await call(world, body: HTTPBody("note", .single)) == .created)
        #expect(world.fields(.authorization).last == "Bearer CANARY-access-fresh-1")
    }

    @Test func aServerThatAlwaysWantsAnotherNonceIsLeft() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin(key: .generate())
        for count in 1...9 { world.api.enqueue(.nonceChallenge("nonce-\(count)")) }
        #expect(try await call(world) == .unauthorized)
        #expect(world.api.requestCount == 6)
    }

    @Test(arguments: [
        "/", "/v1", "http://api.example/v1", "https://user:SECRET@api.example", "https://api.example#SECRET",
        "ftp://api.example",
    ])
    func aBaseURLThatNoTokenGoesToIsRefused(_ base: String) async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        await #expect { _ = try await call(world, at: base) } throws: { error in
            guard let error = error as? VaultError, let hint = error.hint else { return false }
            return error.code == .invalidArgument && !(error.message + hint).contains("SECRET")
        }
        #expect(world.api.requestCount == 0)
    }

    /// The base URL counts, and nothing that the request says of its own.
    @Test func theBaseURLDecidesWhereATokenGoes() async throws {
        var registration = Sample.provider()
        registration.apiOrigins = [try APIOrigin("https://api.example")]
        let world = try await ScriptedWorld(registration)
        try await world.addLogin()
        let base = try #require(URL(string: "https://evil.example/v1?x=y"))
        let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/me")
        await #expect {
            _ = try await world.users.authorize(request, for: .user("alice"), baseURL: base)
        } throws: { ($0 as? VaultError)?.code == .originNotAllowed }
        let token = try await world.users.accessToken(userId: "alice")
        await #expect {
            _ = try await world.users.authorize(request, with: token, baseURL: base)
        } throws: { ($0 as? VaultError)?.code == .originNotAllowed }
        let own = try await world.users.clientToken(provider: "acme")
        await #expect {
            _ = try await world.users.authorize(request, withClientToken: own, baseURL: base)
        } throws: { ($0 as? VaultError)?.code == .originNotAllowed }
        // A path must not lengthen the host's name.
        let good = try #require(URL(string: "https://api.example"))
        for path in [".evil.example/", "@evil.example/", ":8443/", ""] {
            let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
            await #expect {
                _ = try await world.users.authorize(request, with: token, baseURL: good)
            } throws: { ($0 as? VaultError)?.code == .invalidArgument }
        }
    }
}
