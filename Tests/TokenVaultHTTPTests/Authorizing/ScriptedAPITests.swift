import FoundationEssentials
import HTTPTypes
import OAuthClient
import TestCertificates
import Testing
import TokenVault
import TokenVaultHTTP
import TokenVaultTesting

/// The client before an API that a test scripts, as a service's own tests have it.
struct ScriptedAPITests {
    private struct Profile: Codable, Equatable {
        var name: String
    }

    private let url = "https://api.example/me?x=1"
    private let profile = ScriptedReply.json(#"{"name":"Alice"}"#)

    @Test func aRejectedTokenIsRenewedAndTheReplyDecoded() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.invalidToken(), profile)
        let response = try await world.client.get(url, for: .user("alice"))
        #expect(response.renewalFailure == nil)
        #expect(response.token?.generation == 2)
        #expect(try await response.json() == Profile(name: "Alice"))
        #expect(world.provider.requestCount == 1)
        #expect(
            world.fields(.authorization) == ["Bearer CANARY-access-1", "Bearer CANARY-access-fresh-1"])
        // No rendering of a request shows the token.
        for sent in world.api.requests {
            #expect(sent.authorizationScheme == "Bearer")
            #expect("\(sent)" == "GET https://api.example/me, Bearer, 0 bytes")
            var dumped = String(reflecting: sent)
            dump(sent, to: &dumped)
            #expect(!dumped.contains(Sample.marker))
        }
    }

    @Test func theResponseSaysThatTheLoginDied() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.provider.simulate(.permanent)
        world.api.enqueue(.invalidToken())
        let response = try await world.client.get(url, for: .user("alice"))
        #expect(response.head.status == .unauthorized)
        #expect(response.renewalFailure?.code == .refreshFailed)
        // Decoding throws the same as the next call.
        await #expect { _ = try await response.json(as: Profile.self) } throws: {
            ($0 as? VaultError)?.code == .refreshFailed
        }
        await #expect { _ = try await world.client.get(url, for: .user("alice")) } throws: {
            ($0 as? VaultError)?.code == .refreshFailed
        }
        #expect(world.api.requestCount == 1)
    }

    @Test func theResponseSaysThatThereIsNoTokenForNow() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.provider.simulate(.outage(retryAfterSeconds: 30))
        world.api.enqueue(.invalidToken())
        let failure = try await world.client.get(url, for: .user("alice")).renewalFailure
        #expect(failure?.code == .tryLater)
        #expect(failure?.retryAfter ?? .zero >= .seconds(30))
    }

    @Test func aServerThatRejectsNewTokensIsNoFailure() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.fallback = .invalidToken()
        let response = try await world.client.get(url, for: .user("alice"))
        #expect(response.head.status == .unauthorized)
        #expect(response.renewalFailure == nil)
        #expect(world.api.requestCount == 2)
        let failure = await #expect(throws: ResourceResponseError.self) { try await response.json(as: Profile.self) }
        #expect(failure?.description == "the API answered with status 401")
    }

    @Test func aNonceChallengeIsAnsweredWithANewProof() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin(key: .generate())
        world.api.enqueue(.nonceChallenge("nonce-1"), profile)
        let sent = Profile(name: "Bob")
        let response = try await world.client.send(
            .put, url, headers: [.accept: "application/json"], body: .json(sent), for: .user("alice"))
        #expect(response.head.status == .ok)
        let proofs = try world.api.requests.map { try ProofClaims($0.request.headerFields[.dpop]) }
        #expect(proofs.map(\.nonce) == [nil, "nonce-1"])
        #expect(proofs.allSatisfy { $0.htm == "PUT" && $0.htu == "https://api.example/me" })
        #expect(world.api.requests.map(\.authorizationScheme) == ["DPoP", "DPoP"])
        #expect(world.fields(.contentType) == ["application/json", "application/json"])
        for request in world.api.requests {
            #expect(try JSONDecoder().decode(Profile.self, from: Data(request.body)) == sent)
        }
    }

    @Test func theRequestsOwnMediaTypeIsKept() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.fallback = .status(.noContent)
        for headers in [[:], [.contentType: "application/merge-patch+json"]] as [HTTPFields] {
            _ = try await world.client.send(
                .patch, url, headers: headers, body: .json(Profile(name: "Bob")), for: .user("alice"))
        }
        #expect(world.fields(.contentType) == ["application/json", "application/merge-patch+json"])
    }

    @Test(arguments: [
        (#"{"name":"SECRET""#, "it cannot be decoded"), (#"{"title":"SECRET"}"#, "it has no member name"),
        (#"{"name":["SECRET"]}"#, "a value has another type"), (#"{"name":null}"#, "a value is missing"),
        ("", "it cannot be decoded"),
    ])
    func aReplyThatIsNotTheExpectedJSONIsRefused(_ body: String, _ words: String) async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.json(body))
        let response = try await world.client.get(url, for: .user("alice"))
        let error = await #expect(throws: ResourceResponseError.self) { try await response.json(as: Profile.self) }
        #expect(error?.description == "the API's reply, with status 200, is not the expected JSON: \(words)")
        #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == body)
        #expect(error?.decodingError is DecodingError)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("SECRET"))
    }

    @Test func anotherStatusIsNotDecoded() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.json(#"{"name":"SECRET"}"#, status: .notFound, headers: [.retryAfter: "7"]))
        let response = try await world.client.get(url, for: .user("alice"))
        let error = await #expect(throws: ResourceResponseError.self) { try await response.json(as: Profile.self) }
        #expect(error?.description == "the API answered with status 404")
        #expect(error?.head.headerFields[.retryAfter] == "7")
        #expect(error?.body == Array(#"{"name":"SECRET"}"#.utf8))
        #expect(error?.decodingError == nil)
    }

    @Test func aStepUpIsThrownByDecoding() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(
            .status(
                .unauthorized, headers: [.wwwAuthenticate: #"Bearer error="insufficient_user_authentication""#]))
        let response = try await world.client.get(url, for: .user("alice"))
        await #expect(throws: StepUpChallenge.self) { try await response.json(as: Profile.self) }
    }

    @Test func aLongReplyIsNotDecoded() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(profile)
        let response = try await world.client.get(url, for: .user("alice"))
        await #expect(throws: HTTPTransportError(.maybeSent, .tooLarge)) {
            try await response.json(as: Profile.self, upTo: 8)
        }
    }

    @Test func aStreamedBodyArrivesOnce() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.invalidToken())
        let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        for text in ["one ", "two"] { continuation.yield(Array(text.utf8)) }
        continuation.finish()
        let response = try await world.client.send(.post, url, body: .stream(stream), for: .user("alice"))
        #expect(response.head.status == .unauthorized)
        #expect(world.api.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["one two"])
        // The next request has the new token.
        world.api.enqueue(profile)
        #expect(try await world.client.get(url, for: .user("alice")).token?.generation == 2)
    }

    @Test func aFailureOfTheTransportIsThrown() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.enqueue(.failure(.notSent, .dns), .failure(.maybeSent, .cancelled))
        await #expect(throws: HTTPTransportError(.notSent, .dns)) {
            try await world.client.get(url, for: .user("alice"))
        }
        await #expect(throws: CancellationError.self) { try await world.client.get(url, for: .user("alice")) }
    }

    /// A transport that shows no certificate never gets a token that is bound to one.
    @Test func aTokenIsNotSentWithoutItsCertificate() async throws {
        var registration = Sample.provider()
        registration.authentication = .tlsClientAuth(try TestCertificate("app", hosts: ["app"]).client)
        registration.bindsTokensToCertificate = true
        let world = try await ScriptedWorld(registration)
        try await world.addLogin()
        world.api.fallback = profile
        await #expect(throws: HTTPTransportError(.notSent, .noClientCertificate)) {
            try await world.client.get(url, for: .user("alice"))
        }
        #expect(world.api.requestCount == 0)
    }

    @Test func theClientsOwnTokenIsSentToAURL() async throws {
        let world = try await ScriptedWorld()
        world.api.enqueue(.invalidToken(), .status(.noContent))
        let response = try await world.client.send(.delete, "https://api.example/report", asClientOf: "acme")
        #expect(response.head.status == .noContent)
        #expect(response.clientToken?.generation == 2)
        world.provider.simulate(.refusedClient)
        world.api.enqueue(.invalidToken())
        let failure = try await world.client.send(.get, url, asClientOf: "acme").renewalFailure
        #expect(failure?.code == .providerMisconfigured)
    }

    @Test func aURLIsTakenApart() async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        world.api.fallback = profile
        for url in ["https://API.example", "https://api.example:443/", "HTTPS://api.example:8443/a%20b?c=d&e"] {
            _ = try await world.client.get(url, for: .user("alice"))
        }
        #expect(
            world.api.requests.map {
                "\($0.request.scheme ?? "")://\($0.request.authority ?? "")\($0.request.path ?? "")"
            } == ["https://api.example/", "https://api.example/", "https://api.example:8443/a%20b?c=d&e"])
    }

    @Test(arguments: [
        "", "SECRET", "/me", "//api.example/me", "https://", "https:///me", "https://user:SECRET@api.example/me",
        "https://api.example/me#SECRET", "https://api.example/a b", "https://api.example/ä", "ftp://api.example/me",
        "https://api.example:99999/me", "http://api.example/SECRET", "http://127.0.0.1/SECRET",
    ])
    func whatIsNotTheURLOfAnAPIIsRefused(_ url: String) async throws {
        let world = try await ScriptedWorld()
        try await world.addLogin()
        for isOwn in [false, true] {
            await #expect {
                _ =
                    isOwn
                    ? try await world.client.send(.get, url, asClientOf: "acme")
                    : try await world.client.get(url, for: .user("alice"))
            } throws: { error in
                guard let error = error as? VaultError, let hint = error.hint else { return false }
                return error.code == .invalidArgument && !(error.message + hint).contains("SECRET")
            }
        }
        #expect(world.api.requestCount == 0)
        #expect(world.provider.requestCount == 0)
    }
}
