import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

struct RevocationTests {
    private func revoke(
        _ replies: [ScriptedTransport.Step], dpop: DPoPContext? = nil, hasEndpoint: Bool = true
    ) async throws -> (RevocationAttempt, ScriptedTransport) {
        let transport = ScriptedTransport(replies)
        let endpoint = RevocationEndpoint(
            endpoint: hasEndpoint ? try Sample.endpoint("https://server.example.com/revoke?x=1") : nil,
            binding: try Sample.binding(), transport: transport, now: { Sample.start })
        return (await endpoint.revoke(.refresh(try RefreshToken("r-CANARY")), dpop: dpop), transport)
    }

    @Test(arguments: [
        (200, "", RevocationOutcome.revoked), (200, "<html>", .revoked), (202, "", .tryLater(retryAfter: nil)),
        (204, "", .tryLater(retryAfter: nil)), (302, "", .tryLater(retryAfter: nil)),
        (503, "", .tryLater(retryAfter: nil)), (500, Sample.error("invalid_client"), .tryLater(retryAfter: nil)),
        (400, Sample.error("unsupported_token_type"), .unsupportedTokenType),
        (401, Sample.error("invalid_client"), .misconfigured(.invalidClient)),
        (400, Sample.error("invalid_request"), .misconfigured(.invalidRequest)),
        (401, "", .misconfigured(nil)), (400, "", .tryLater(retryAfter: nil)),
        (404, "<html>", .tryLater(retryAfter: nil)),
    ])
    func onlyA200EndsAToken(_ status: Int, _ body: String, _ expected: RevocationOutcome) async throws {
        let (attempt, transport) = try await revoke([.reply(reply(status, body))])
        #expect(attempt.outcome == expected)
        #expect(attempt.requestsSent == 1)
        let sent = try #require(transport.sent.first)
        #expect(sent.request.path == "/revoke?x=1")
        #expect(sent.form == ["token": "r-CANARY", "token_type_hint": "refresh_token", "client_id": "client"])
    }

    @Test func aCodeThatMeansGoneIsDone() async throws {
        for (name, expected) in [("salesforce", RevocationOutcome.revoked), ("generic", .tryLater(retryAfter: nil))] {
            let transport = ScriptedTransport([.reply(reply(400, Sample.error("invalid_token")))])
            var binding = try Sample.binding()
            binding.revocation = try ProviderProfile.named(name).revocation
            let endpoint = RevocationEndpoint(
                endpoint: try Sample.endpoint("https://server.example.com/revoke"), binding: binding,
                transport: transport, now: { Sample.start })
            #expect(await endpoint.revoke(.refresh(try RefreshToken("r-CANARY"))).outcome == expected)
        }
    }

    /// An access token that has run out ends nothing: the grant and its refresh token live on.
    @Test(arguments: [
        ("github", 404, "", RevocationOutcome.tryLater(retryAfter: nil)), ("github", 204, "", .revoked),
        ("slack", 200, #"{"ok":false,"error":"token_expired"}"#, .tryLater(retryAfter: nil)),
        ("slack", 200, #"{"ok":false,"error":"invalid_auth"}"#, .tryLater(retryAfter: nil)),
        ("slack", 200, #"{"ok":false,"error":"token_revoked"}"#, .revoked),
        ("slack", 200, #"{"ok":true,"revoked":true}"#, .revoked),
    ])
    func whatHasRunOutIsNotTakenForAnEndedGrant(
        _ name: String, _ status: Int, _ body: String, _ expected: RevocationOutcome
    ) async throws {
        let transport = ScriptedTransport([.reply(reply(status, body))])
        var binding = try Sample.binding()
        let profile = try ProviderProfile.named(name)
        binding.revocation = profile.revocation
        binding.rules = profile.reply
        let endpoint = RevocationEndpoint(
            endpoint: try Sample.endpoint("https://server.example.com/revoke"), binding: binding,
            transport: transport, now: { Sample.start })
        #expect(await endpoint.revoke(.access(try AccessToken("a-CANARY"))).outcome == expected)
    }

    @Test func noEndpointIsToldAsSuchAndSendsNothing() async throws {
        let (attempt, transport) = try await revoke([.reply(reply(200))], hasEndpoint: false)
        #expect(attempt.outcome == .unsupported)
        #expect(transport.sent.isEmpty)
    }

    @Test func aBusyServerIsObeyed() async throws {
        let (attempt, _) = try await revoke([.reply(reply(503, "", [("Retry-After", "90")]))])
        #expect(attempt.outcome == .tryLater(retryAfter: .seconds(90)))
    }

    @Test(arguments: [HTTPTransportError(.notSent, .connect), HTTPTransportError(.maybeSent, .reset)])
    func withoutAReplyTheTokenIsAssumedAlive(_ error: HTTPTransportError) async throws {
        let (attempt, _) = try await revoke([.failure(error)])
        #expect(attempt.outcome == .tryLater(retryAfter: nil))
    }

    @Test func aNonceChallengeIsAnsweredOnce() async throws {
        let challenge = reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n1")])
        let again = reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n2")])
        let key = DPoPContext(key: .generate())
        let (attempt, transport) = try await revoke([.reply(challenge), .reply(reply(200))], dpop: key)
        #expect(attempt.outcome == .revoked)
        #expect(attempt.requestsSent == 2)
        let proof = try ReadProof(try #require(transport.sent.last?.request.headerFields[.dpop]))
        #expect(proof.claim("nonce") == "n1")
        #expect(proof.claim("htu") == "https://server.example.com/revoke")
        let (loop, _) = try await revoke([.reply(challenge), .reply(again), .reply(again)], dpop: key)
        #expect(loop.requestsSent == 2)
        #expect(loop.nonces.values.map(\.rawValue) == ["n2"])
    }
}
