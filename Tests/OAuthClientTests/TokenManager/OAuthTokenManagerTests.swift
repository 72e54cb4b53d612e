import HTTPTypes
import OAuthClient
import Testing

struct OAuthTokenManagerTests {
    private func manager(
        _ transport: ScriptedTransport, keyPair: DPoPKey? = nil,
        binding: OAuthClientConfiguration.KeyBinding = .required
    ) throws -> OAuthTokenManager {
        let configuration = OAuthClientConfiguration(
            clientID: try ClientID("client"), tokenEndpoint: try Sample.endpoint(),
            revocationEndpoint: try Sample.endpoint("https://server.example.com/revoke"),
            redirectURI: try RedirectURI("https://app.example/cb"), keyBinding: binding)
        return OAuthTokenManager(
            configuration: configuration, transport: transport, keyPair: keyPair, now: { Sample.start })
    }

    private var bound: String { Sample.good(["token_type": "\"DPoP\"", "scope": "\"read\"", "id_token": "\"a.b.c\""]) }

    @Test func aCodeGivesASuccessfulTokenAndAKeyPair() async throws {
        let transport = ScriptedTransport(reply(200, bound))
        let manager = try manager(transport)
        #expect(manager.keyPair == nil)
        let response = await manager.fetchAccessToken(
            with: try AuthorizationCode("code"), codeVerifier: .random(),
            extraParameters: [FormParameter("audience", "api")])
        guard case .successfulToken(let tokens) = response else {
            Issue.record("\(response)")
            return
        }
        #expect(tokens.accessToken.reveal() == Sample.access)
        #expect(tokens.refreshToken?.reveal() == Sample.refresh)
        #expect(tokens.expiresIn == .seconds(3_600))
        #expect(tokens.tokenType == .dpop)
        #expect(tokens.scope?.tokens == ["read"])
        let sent = try #require(transport.sent.first)
        #expect(sent.form["audience"] == "api")
        let proof = try ReadProof(try #require(sent.request.headerFields[.dpop]))
        #expect(proof.thumbprint == manager.keyPair?.thumbprint)
    }

    @Test func theKeyPairIsClearedOnInvalidGrant() async throws {
        let manager = try manager(
            ScriptedTransport(reply(400, #"{"error":"invalid_grant","error_description":"gone"}"#)),
            keyPair: .generate())
        let response = await manager.refreshAccessToken(with: try RefreshToken("r"))
        guard case .errorToken(let error) = response else {
            Issue.record("\(response)")
            return
        }
        #expect(error.error == .invalidGrant)
        #expect(error.status == 400)
        #expect(error.errorDescription?.reveal() == "gone")
        #expect(manager.keyPair == nil)
    }

    @Test(arguments: [
        (400, "invalid_client"), (500, "invalid_grant"), (429, "invalid_grant"), (400, "temporarily_unavailable"),
        (400, "interaction_required"), (403, "x"), (200, "x"),
    ])
    func theKeyPairIsKeptOnEveryOtherFailure(_ status: Int, _ code: String) async throws {
        let manager = try manager(ScriptedTransport(reply(status, Sample.error(code))), keyPair: .generate())
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        #expect(manager.keyPair != nil)
    }

    @Test func theKeyPairIsClearedAfterAConfirmedRevocationOnly() async throws {
        let token = try RefreshToken("r-CANARY")
        let transport = ScriptedTransport(reply(503), reply(200))
        let manager = try manager(transport, keyPair: .generate())
        #expect(await manager.revokeRefreshToken(token) == .tryLater(retryAfter: nil))
        #expect(manager.keyPair != nil)
        #expect(await manager.revokeRefreshToken(token) == .revoked)
        #expect(manager.keyPair == nil)
        #expect(transport.sent.last?.form["token"] == "r-CANARY")
    }

    @Test func anAccessTokenIsRevokedWithItsHint() async throws {
        let transport = ScriptedTransport(reply(200))
        let manager = try manager(transport, binding: .never)
        #expect(await manager.revokeAccessToken(try AccessToken("a")) == .revoked)
        #expect(transport.sent.first?.form["token_type_hint"] == "access_token")
    }

    /// RFC 7009 §2.1: the grant may live on, and a public client's refresh token is bound to the key (RFC 9449 §5).
    @Test func revokingAnAccessTokenKeepsTheKeyPair() async throws {
        let transport = ScriptedTransport(reply(200, bound), reply(200), reply(200, bound), reply(200))
        let manager = try manager(transport)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        let key = try #require(manager.keyPair)
        #expect(await manager.revokeAccessToken(try AccessToken("a")) == .revoked)
        #expect(manager.keyPair?.thumbprint == key.thumbprint)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        #expect(manager.keyPair?.thumbprint == key.thumbprint)
        #expect(await manager.revokeRefreshToken(try RefreshToken("r")) == .revoked)
        #expect(manager.keyPair == nil)
    }

    @Test func failuresSayWhetherTheTokenMayBeSpent() async throws {
        let cases: [(ScriptedTransport.Step, OAuthFailure.Code)] = [
            (.failure(HTTPTransportError(.notSent, .dns)), .notSent),
            (.failure(HTTPTransportError(.maybeSent, .reset)), .inDoubt),
            (.reply(reply(200, "<html>")), .inDoubt), (.reply(reply(429)), .tryLater), (.reply(reply(500)), .inDoubt),
            (.reply(reply(200, Sample.good())), .unusableTokens),
        ]
        for (step, code) in cases {
            let manager = try manager(ScriptedTransport([step]))
            let response = await manager.refreshAccessToken(with: try RefreshToken("r"))
            guard case .error(let failure) = response else {
                Issue.record("\(response)")
                continue
            }
            #expect(failure.code == code)
            // A plain token was refused, and the refresh token that came with it is still handed over.
            #expect((failure.refreshToken?.reveal() == Sample.refresh) == (code == .unusableTokens))
        }
    }

    @Test func theNonceOfOneReplyGoesWithTheNextRequest() async throws {
        let transport = ScriptedTransport(
            reply(200, bound, [("DPoP-Nonce", "n1")]), reply(200, bound, [("DPoP-Nonce", "n2")]))
        let manager = try manager(transport)
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        let proofs = try transport.sent.map { try ReadProof(try #require($0.request.headerFields[.dpop])) }
        #expect(proofs.map { $0.claim("nonce") } == [nil, "n1"])
        #expect(proofs[0].thumbprint == proofs[1].thumbprint)
    }
}
