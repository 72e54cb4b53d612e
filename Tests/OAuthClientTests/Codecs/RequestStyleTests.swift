import Crypto
import Foundation
import HTTPTypes
import OAuthClient
import Testing

struct RequestStyleTests {
    private let key = P256.Signing.PrivateKey()

    private func endpoint(_ binding: ServerBinding, _ transport: ScriptedTransport) -> TokenEndpoint {
        TokenEndpoint(binding: binding, transport: transport, now: { Sample.start })
    }

    private func good() -> HTTPReply { reply(200, Sample.good(), [("Content-Type", "application/json")]) }

    @Test func bodiesCanBeJSON() async throws {
        var binding = try Sample.binding(.clientSecretPost(try ClientSecret(#"se"cret\"#)))
        binding.style.body = .json
        let transport = ScriptedTransport(good())
        _ = await endpoint(binding, transport).refresh(try Sample.exchange(), context: .init())
        let sent = try #require(transport.sent.first)
        #expect(sent.request.headerFields[.contentType] == "application/json")
        let members = try #require(try JSONSerialization.jsonObject(with: Data(sent.body)) as? [String: String])
        #expect(
            members == [
                "grant_type": "refresh_token", "refresh_token": "sent-CANARY-0", "client_id": "client",
                "client_secret": #"se"cret\"#,
            ])
    }

    @Test func refreshURLScopesParametersAndResourcesAreSent() async throws {
        var binding = try Sample.binding()
        binding.refreshEndpoint = try EndpointURL("https://refresh.example.com/again")
        binding.style.scopeSeparator = ","
        binding.style.refreshParameters = [FormParameter("extra", "1"), FormParameter("refresh_token", "no")]
        binding.style.codeParameters = [FormParameter("other", "2")]
        let transport = ScriptedTransport(good(), good())
        var exchange = try Sample.exchange(scope: try Scope("a b"))
        exchange.resources = ["https://api.example.com/", "https://files.example.com/"]
        _ = await endpoint(binding, transport).refresh(exchange, context: .init())
        let sent = transport.sent[0]
        #expect(sent.request.authority == "refresh.example.com")
        let parameters = try #require(FormCodec.decode(sent.body))
        #expect(parameters.filter { $0.name == "resource" }.map(\.value) == exchange.resources)
        #expect(parameters.filter { $0.name == "scope" }.map(\.value) == ["a,b"])
        #expect(parameters.filter { $0.name == "extra" }.map(\.value) == ["1"])
        #expect(parameters.filter { $0.name == "refresh_token" }.map(\.value) == ["sent-CANARY-0"])
        _ = await endpoint(binding, transport).exchangeCode(
            CodeRequest(code: try AuthorizationCode("code-CANARY"), codeVerifier: nil, redirectURI: nil),
            context: .init())
        #expect(transport.sent[1].request.authority == "server.example.com")
        #expect(transport.sent[1].form["other"] == "2")
        #expect(transport.sent[1].form["code_verifier"] == nil)
    }

    @Test func anAssertionIsNewForEveryRequestAndShortLived() async throws {
        let client = try ClientAssertionKey(pem: key.pemRepresentation, keyID: "k-1")
        let binding = try Sample.binding(.privateKeyJWT(client))
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n-1")]),
            reply(200, Sample.good(["token_type": "\"DPoP\""])))
        _ = await endpoint(binding, transport).refresh(
            try Sample.exchange(dpop: DPoPContext(key: .generate())), context: .init(expectedTokenType: .dpop))
        var identifiers: Set<String> = []
        for sent in transport.sent {
            #expect(sent.request.headerFields[.authorization] == nil)
            #expect(sent.form["client_secret"] == nil)
            #expect(
                sent.form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            let parts = try #require(sent.form["client_assertion"]).split(separator: ".")
            let signature = try P256.Signing.ECDSASignature(
                rawRepresentation: try #require(Base64URL.decode(parts[2])))
            #expect(key.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
            let header = try JSONObject(document: try #require(Base64URL.decode(parts[0])))
            let claims = try JSONObject(document: try #require(Base64URL.decode(parts[1])))
            #expect(text(header["alg"]) == "ES256" && text(header["kid"]) == "k-1")
            #expect(text(claims["iss"]) == "client" && text(claims["sub"]) == "client")
            #expect(text(claims["aud"]) == "https://server.example.com/token")
            guard case .number(let issued)? = claims["iat"], case .number(let expires)? = claims["exp"] else {
                Issue.record("the assertion has no times")
                return
            }
            #expect(issued == "1700000000" && expires == "1700000030")
            identifiers.insert(try #require(text(claims["jti"])))
        }
        #expect(transport.sent.count == 2)
        #expect(identifiers.count == 2)
        #expect("\(client) \(String(reflecting: client))".contains("BEGIN") == false)
    }

    private func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    @Test func whereANonceIsRequiredNoGrantTravelsBeforeItIsKnown() async throws {
        var binding = try Sample.binding()
        binding.style.requiresNonce = true
        let good = reply(200, Sample.good(["token_type": "\"DPoP\""]), [("DPoP-Nonce", "n-2")])
        let transport = ScriptedTransport(
            reply(400, Sample.error("use_dpop_nonce"), [("DPoP-Nonce", "n-1")]), good)
        let attempt = await endpoint(binding, transport).refresh(
            try Sample.exchange(dpop: DPoPContext(key: .generate())), context: .init(expectedTokenType: .dpop))
        #expect(transport.sent.count == 2)
        #expect(transport.sent[0].form["refresh_token"] == nil)
        #expect(!String(decoding: transport.sent[0].body, as: UTF8.self).contains("CANARY"))
        #expect(transport.sent[1].form["refresh_token"] == "sent-CANARY-0")
        #expect(attempt.nonces["https://server.example.com"]?.rawValue == "n-2")
        #expect(!attempt.leavesDoubt)
        guard case .success = attempt.outcome else {
            Issue.record("the refresh did not succeed")
            return
        }
        // With a nonce at hand nothing is fetched.
        let again = ScriptedTransport(good)
        let nonces = try #require(DPoPNonce("n-2"))
        _ = await endpoint(binding, again).refresh(
            try Sample.exchange(
                dpop: DPoPContext(key: .generate(), nonces: ["https://server.example.com": nonces])),
            context: .init(expectedTokenType: .dpop))
        #expect(again.sent.count == 1)
    }

    @Test(arguments: [HTTPTransportError.Phase.notSent, .maybeSent])
    func ifTheNonceCannotBeHadNothingIsSpent(phase: HTTPTransportError.Phase) async throws {
        var binding = try Sample.binding()
        binding.style.requiresNonce = true
        let transport = ScriptedTransport([.failure(HTTPTransportError(phase, .timeout))])
        let attempt = await endpoint(binding, transport).refresh(
            try Sample.exchange(dpop: DPoPContext(key: .generate())), context: .init(expectedTokenType: .dpop))
        #expect(attempt.outcome == .transient(TransientFailure(.notSent(.timeout))))
        #expect(!attempt.leavesDoubt)
        #expect(transport.sent.allSatisfy { $0.form["refresh_token"] == nil })
    }

    @Test func aSecondSecretNeverGoesWithAGrant() async throws {
        var binding = try Sample.binding(.clientSecretPost(try ClientSecret("old")))
        binding.alternatives = [.clientSecretPost(try ClientSecret("new"))]
        let refused = reply(401, Sample.error("invalid_client"))
        let refresh = ScriptedTransport(refused, good())
        let attempt = await endpoint(binding, refresh).refresh(try Sample.exchange(), context: .init())
        #expect(attempt.outcome == .misconfigured(.client(.invalidClient)))
        #expect(refresh.sent.map { $0.form["client_secret"] } == ["old"])
        let code = ScriptedTransport(refused, good())
        _ = await endpoint(binding, code).exchangeCode(
            CodeRequest(code: try AuthorizationCode("code"), codeVerifier: nil, redirectURI: nil), context: .init())
        #expect(code.sent.count == 1)
        // A request that carries nothing to lose may try.
        let own = ScriptedTransport(refused, good())
        let token = await endpoint(binding, own).clientCredentials(
            scope: try Scope("a"), resources: ["https://api.example.com"])
        #expect(own.sent.map { $0.form["client_secret"] } == ["old", "new"])
        #expect(own.sent.allSatisfy { $0.form["grant_type"] == "client_credentials" })
        #expect(own.sent[1].form["resource"] == "https://api.example.com")
        guard case .success = token.outcome else {
            Issue.record("the second secret was not used")
            return
        }
    }
}
