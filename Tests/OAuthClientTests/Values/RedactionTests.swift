import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// No rendering of any value shows a secret.
struct RedactionTests {
    private func renderings(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let reflected = String(reflecting: value)
        return ["\(value)", String(describing: value), reflected, dumped, "\([value])", "\(Optional(value) as Any)"]
    }

    private func expectSilence(_ value: Any) {
        for rendering in renderings(value) {
            #expect(!rendering.uppercased().contains(marker), "\(type(of: value)) shows its secret")
        }
    }

    @Test func secretsAreSilent() throws {
        expectSilence(try AccessToken("a-CANARY"))
        expectSilence(try RefreshToken("a-CANARY"))
        expectSilence(try IDToken("a-CANARY"))
        expectSilence(try AuthorizationCode("a-CANARY"))
        expectSilence(try ClientSecret("a-CANARY"))
        expectSilence(try AuthorizationState("a-CANARY"))
        expectSilence(try CodeVerifier("CANARY" + String(repeating: "a", count: 43)))
        expectSilence(FormParameter("name", "CANARY"))
        expectSilence(try #require(DPoPNonce("CANARY")))
        expectSilence(ServerMessage("CANARY"))
        expectSilence(IDTokenIdentity(subject: "CANARY", issuer: "CANARY"))
        expectSilence(try #require(OAuthErrorCode("CANARY")))
        expectSilence(TokenType("CANARY"))
        #expect("\(try AccessToken("a-CANARY"))" == "<redacted>")
    }

    @Test func keysAndProofsAreSilent() throws {
        let key = DPoPKey.generate()
        let secret = Base64URL.encode(key.revealRawRepresentation())
        let proof = try DPoPProof.sign(key: key, method: .post, url: "https://e.com/", issuedAt: Sample.start)
        for value in [key, proof, DPoPContext(key: key, nonces: ["o": try #require(DPoPNonce("CANARY"))])] as [Any] {
            for rendering in renderings(value) {
                #expect(!rendering.contains(secret))
                #expect(!rendering.contains(proof.rawValue))
                #expect(!rendering.contains(marker))
            }
        }
    }

    @Test func repliesAndOutcomesAreSilent() throws {
        let leaky = #"{"error":"CANARY","error_description":"token CANARY","error_uri":"https://x/CANARY"}"#
        for body in [Sample.good(), Sample.good(["access_token": nil]), leaky, "CANARY", "a=CANARY&error=CANARY"] {
            for status in [200, 302, 400, 500] {
                let reply = reply(status, body, [("X", "CANARY"), ("DPoP-Nonce", "CANARY")])
                expectSilence(reply)
                expectSilence(EndpointReply.reply(reply))
                expectSilence(classify(.reply(reply), ClassificationContext(), .rfc))
            }
        }
    }

    @Test func attemptsAndResponsesAreSilent() async throws {
        for reply in [
            reply(200, Sample.good()), reply(200, Sample.good(["access_token": nil])),
            reply(400, #"{"error":"invalid_grant","error_description":"sent-CANARY-0"}"#),
            reply(400, #"{"error":"sent-CANARY-0"}"#),
        ] {
            let endpoint = TokenEndpoint(
                binding: try Sample.binding(.clientSecretPost(try ClientSecret("CANARY"))),
                transport: ScriptedTransport(reply), now: { Sample.start })
            expectSilence(endpoint.binding)
            let exchange = try Sample.exchange()
            expectSilence(exchange)
            expectSilence(await endpoint.refresh(exchange, context: ClassificationContext()))
            let manager = OAuthTokenManager(
                configuration: OAuthClientConfiguration(
                    clientID: try ClientID("c"), authentication: .clientSecretBasic(try ClientSecret("CANARY")),
                    tokenEndpoint: try Sample.endpoint()),
                transport: ScriptedTransport(reply), now: { Sample.start })
            expectSilence(manager.configuration)
            expectSilence(await manager.refreshAccessToken(with: exchange.refreshToken))
        }
    }

    @Test func errorsAreSilent() throws {
        #expect(throws: OAuthValueError.self) { try AccessToken("CANARY\n") }
        do { _ = try AccessToken("CANARY\n") } catch { expectSilence(error) }
        do { _ = try EndpointURL("CANARY") } catch { expectSilence(error) }
        do { _ = try JSONObject(document: Array("{\"CANARY\":".utf8)) } catch { expectSilence(error) }
        expectSilence(
            AuthorizationCallbackError(
                .refused, error: OAuthErrorCode("CANARY"), errorDescription: ServerMessage("CANARY")))
        do {
            _ = try ServerMetadata(
                parsing: Array(#"{"issuer":"https://a.example","token_endpoint":"CANARY"}"#.utf8),
                issuer: try Issuer("https://a.example"))
        } catch {
            expectSilence(error)
        }
    }

    @Test func callbacksAndURLsAreSilent() throws {
        expectSilence(try AuthorizationCallback(parsing: "?code=CANARY&state=CANARY"))
        expectSilence(
            AuthorizationURL(
                endpoint: try Sample.endpoint(), clientID: try ClientID("c"),
                state: try AuthorizationState("CANARY"), codeChallenge: nil))
    }

    @Test func serverMessagesLoseWhatATerminalWouldObey() {
        let message = ServerMessage("a\u{1B}[31m\r\nb\u{202E}c\u{0}\u{2028}d\u{9B}e%n")
        #expect(message.reveal() == "a[31mbcde%n")
        #expect(ServerMessage(String(repeating: "x", count: 100_000)).reveal().count == 256)
    }
}
