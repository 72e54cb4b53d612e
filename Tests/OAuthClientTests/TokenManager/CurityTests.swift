import OAuthClient
import Synchronization
import Testing

/// What is taken from Curity's token manager, in detail; its sentences are in OtherSDKs.
struct CurityTests {
    private func manager(
        _ transport: ScriptedTransport, keyPair: DPoPKey? = nil, listener: (any TokenEndpointResponseListener)? = nil
    ) throws -> OAuthTokenManager {
        OAuthTokenManager(
            configuration: OAuthClientConfiguration(
                clientID: try ClientID("client"), tokenEndpoint: try Sample.endpoint(),
                revocationEndpoint: try Sample.endpoint("https://server.example.com/revoke"),
                redirectURI: try RedirectURI("https://app.example/cb"), keyBinding: .never),
            transport: transport, keyPair: keyPair, listener: listener, now: { Sample.start })
    }

    @Test func fetchGivesTheSixFieldsOfWhichOnlyTwoAreSure() async throws {
        let full = Sample.good([
            "scope": "\"read\"", "id_token": "\"eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4Iiwic3ViIjoieCJ9.c2ln\"",
            "token_type": "\"Bearer\"",
        ])
        let bare = #"{"access_token":"only","expires_in":60,"token_type":"Bearer"}"#
        let manager = try manager(ScriptedTransport(reply(200, full), reply(200, bare)))
        guard case .successfulToken(let first) = await manager.fetchAccessToken(with: try AuthorizationCode("c")),
            case .successfulToken(let second) = await manager.refreshAccessToken(with: try RefreshToken("r"))
        else {
            Issue.record("no tokens")
            return
        }
        #expect(first.refreshToken != nil)
        #expect(first.idToken != nil)
        #expect(first.scope?.tokens == ["read"])
        #expect(first.tokenType == .bearer)
        #expect(second.accessToken.reveal() == "only")
        #expect(second.expiresIn == .seconds(60))
        #expect(second.refreshToken == nil)
        #expect(second.idToken == nil)
        #expect(second.scope == nil)
    }

    @Test func anOAuthErrorIsAValueAndSoIsEveryOtherFailure() async throws {
        let manager = try manager(
            ScriptedTransport([
                .reply(reply(400, #"{"error":"invalid_client"}"#)), .failure(HTTPTransportError(.maybeSent, .timeout)),
            ]))
        guard case .errorToken(let error) = await manager.refreshAccessToken(with: try RefreshToken("r")) else {
            Issue.record("no error token")
            return
        }
        #expect(error.error == .invalidClient)
        guard case .error = await manager.refreshAccessToken(with: try RefreshToken("r")) else {
            Issue.record("no error")
            return
        }
    }

    @Test func extraParametersGoWithEveryKindOfRequest() async throws {
        let transport = ScriptedTransport(
            reply(200, Sample.good()), reply(200, Sample.good()), reply(200), reply(200))
        let manager = try manager(transport)
        let extra = [FormParameter("tenant", "t1")]
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"), extraParameters: extra)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"), extraParameters: extra)
        #expect(await manager.revokeRefreshToken(try RefreshToken("r"), extraParameters: extra) == .revoked)
        #expect(await manager.revokeAccessToken(try AccessToken("a"), extraParameters: extra) == .revoked)
        #expect(transport.sent.map { $0.form["tenant"] } == ["t1", "t1", "t1", "t1"])
    }

    @Test func keyPairIsClearedOnInvalidGrantAndRevocationOnly() async throws {
        let refused = try manager(ScriptedTransport(reply(400, #"{"error":"invalid_grant"}"#)), keyPair: .generate())
        _ = await refused.refreshAccessToken(with: try RefreshToken("r"))
        #expect(refused.keyPair == nil)
        let revoked = try manager(ScriptedTransport(reply(200)), keyPair: .generate())
        _ = await revoked.revokeRefreshToken(try RefreshToken("r"))
        #expect(revoked.keyPair == nil)
        let down = try manager(ScriptedTransport(reply(503)), keyPair: .generate())
        _ = await down.refreshAccessToken(with: try RefreshToken("r"))
        #expect(down.keyPair != nil)
    }

    @Test func listenerReceivesStatusAndHeadersOfEachRequest() async throws {
        let listener = Listener()
        let transport = ScriptedTransport(
            reply(200, Sample.good()), reply(400, #"{"error":"invalid_grant"}"#), reply(200))
        let manager = try manager(transport, listener: listener)
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        _ = await manager.revokeRefreshToken(try RefreshToken("r"))
        while listener.heard.count < 3, !Task.isCancelled { await Task.yield() }
        #expect(listener.heard == ["fetch 200", "refresh 400", "revoke 200"])
    }
}

private final class Listener: TokenEndpointResponseListener {
    private let responses = Mutex<[String]>([])

    var heard: [String] { responses.withLock { $0 } }

    func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws {
        responses.withLock { $0.append("\(response.operation) \(response.status ?? 0)") }
    }
}
