import Crypto
import HTTPTypes
import OAuthClient
import Synchronization
import TestSupport
import Testing

/// What Curity's SDK says of its token manager, sentence by sentence: the table in docs/from-other-sdks.md has the same
/// ones.
struct CuritySentenceTests {
    private static func manager(
        _ transport: ScriptedTransport, keyPair: DPoPKey? = nil, authentication: ClientAuthentication = .none,
        listener: (any TokenEndpointResponseListener)? = nil
    ) throws -> OAuthTokenManager {
        OAuthTokenManager(
            configuration: OAuthClientConfiguration(
                clientID: try ClientID("client"), authentication: authentication, tokenEndpoint: try Sample.endpoint(),
                revocationEndpoint: try Sample.endpoint("https://server.example.com/revoke"),
                redirectURI: try RedirectURI("https://app.example/cb"), keyBinding: .never),
            transport: transport, keyPair: keyPair, listener: listener, now: { Sample.start })
    }

    @Test("fetchAccessToken(with: code) has three answers: a successful token, an error token, an error")
    func aCodeHasThreeAnswers() async throws {
        let manager = try Self.manager(
            ScriptedTransport([
                .reply(reply(200, Sample.good())), .reply(reply(400, Sample.error("invalid_client"))),
                .failure(HTTPTransportError(.notSent, .dns)),
            ]))
        var answers: [String] = []
        for _ in 0..<3 {
            switch await manager.fetchAccessToken(with: try AuthorizationCode("code")) {
            case .successfulToken(let tokens): answers.append(tokens.accessToken.reveal())
            case .errorToken(let error): answers.append("\(error.error)")
            case .error(let failure): answers.append(failure.code.name)
            }
        }
        #expect(answers == [Sample.access, "invalid_client", "notSent"])
    }

    /// Typed, and `expiresIn` may be missing, as RFC 6749 §5.1 allows.
    @Test("a token response has six fields, of which expiresIn is an Int", .tags(.differs))
    func onlyTheAccessTokenIsSure() async throws {
        let idToken = "\"eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4Iiwic3ViIjoieCJ9.c2ln\""
        let full = Sample.good(["scope": "\"read\"", "id_token": idToken])
        let bare = #"{"access_token":"only","token_type":"Bearer"}"#
        let manager = try Self.manager(ScriptedTransport(reply(200, full), reply(200, bare)))
        guard case .successfulToken(let first) = await manager.fetchAccessToken(with: try AuthorizationCode("c")),
            case .successfulToken(let second) = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        else {
            Issue.record("no tokens")
            return
        }
        #expect(first.accessToken.reveal() == Sample.access)
        #expect(first.refreshToken?.reveal() == Sample.refresh)
        #expect(first.expiresIn == .seconds(3_600))
        #expect(first.tokenType == .bearer)
        #expect(first.scope?.tokens == ["read"])
        #expect(first.idToken != nil)
        #expect(second.accessToken.reveal() == "only")
        #expect(second.expiresIn == nil)
    }

    @Test("refreshAccessToken(with:) takes extra parameters")
    func extraParametersGoWithARefresh() async throws {
        let transport = ScriptedTransport(reply(200, Sample.good()))
        _ = try await Self.manager(transport).refreshAccessToken(
            with: RefreshToken("r"), extraParameters: [FormParameter("tenant", "t1")])
        let form = try #require(transport.sent.first?.form)
        #expect(form["grant_type"] == "refresh_token")
        #expect(form["refresh_token"] == "r")
        #expect(form["tenant"] == "t1")
    }

    @Test("on invalid_grant clears any stored DPoP key pair")
    func invalidGrantClearsTheKeyPair() async throws {
        let manager = try Self.manager(
            ScriptedTransport(reply(400, Sample.error("invalid_grant"))), keyPair: .generate())
        #expect(manager.keyPair != nil)
        _ = await manager.refreshAccessToken(with: try RefreshToken("r"))
        #expect(manager.keyPair == nil)
    }

    @Test("revokeRefreshToken clears the key pair, and revokeAccessToken is explicit")
    func revokingTheRefreshTokenClearsTheKeyPair() async throws {
        let transport = ScriptedTransport(reply(200), reply(200))
        let manager = try Self.manager(transport, keyPair: .generate())
        #expect(await manager.revokeAccessToken(try AccessToken("a")) == .revoked)
        #expect(manager.keyPair != nil)
        #expect(await manager.revokeRefreshToken(try RefreshToken("r")) == .revoked)
        #expect(manager.keyPair == nil)
        #expect(transport.sent.map { $0.form["token"] } == ["a", "r"])
    }

    /// The code says what a failure means for the token, whichever layer it came from.
    @Test("error: a framework or transport error", .tags(.differs))
    func aFailureSaysWhatItMeansForTheToken() async throws {
        let layers: [ScriptedTransport.Step] = [
            .failure(HTTPTransportError(.notSent, .dns)), .failure(HTTPTransportError(.notSent, .tls)),
            .failure(HTTPTransportError(.maybeSent, .timeout)), .reply(reply(200, "<html>")), .reply(reply(429)),
        ]
        let manager = try Self.manager(ScriptedTransport(layers))
        var codes: [OAuthFailure.Code] = []
        for _ in layers {
            guard case .error(let failure) = await manager.refreshAccessToken(with: try RefreshToken("r")) else {
                break
            }
            codes.append(failure.code)
        }
        #expect(codes == [.notSent, .notSent, .inDoubt, .inDoubt, .tryLater])
    }

    @Test("a listener gets the raw headers, with no double handling of the response")
    func aListenerSeesTheHeaders() async throws {
        let listener = HeaderListener()
        let transport = ScriptedTransport(reply(200, Sample.good(), [("X-Request-Id", "4711")]))
        let manager = try Self.manager(transport, listener: listener)
        guard case .successfulToken = await manager.fetchAccessToken(with: try AuthorizationCode("c")) else {
            Issue.record("no tokens")
            return
        }
        try await eventually { listener.heard == ["200 4711 false"] }
    }

    /// A server shows no screens. In place of an attestation it proves itself with a key of its own.
    @Test("models for screens, and attestation of the client", .tags(.differs))
    func aServerProvesItselfWithItsKey() async throws {
        let key = try ClientAssertionKey(pem: P256.Signing.PrivateKey().pemRepresentation)
        let transport = ScriptedTransport(reply(200, Sample.good()))
        let manager = try Self.manager(transport, authentication: .privateKeyJWT(key))
        _ = await manager.fetchAccessToken(with: try AuthorizationCode("c"))
        let form = try #require(transport.sent.first?.form)
        #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(form["client_assertion"]?.split(separator: ".").count == 3)
    }
}

private final class HeaderListener: TokenEndpointResponseListener {
    private let responses = Mutex<[String]>([])

    var heard: [String] { responses.withLock { $0 } }

    func tokenEndpointResponded(_ response: TokenEndpointResponse) async throws {
        let id = HTTPField.Name("X-Request-Id").flatMap { response.headerFields[$0] } ?? ""
        responses.withLock { $0.append("\(response.status ?? 0) \(id) \(response.secretBody != nil)") }
    }
}
