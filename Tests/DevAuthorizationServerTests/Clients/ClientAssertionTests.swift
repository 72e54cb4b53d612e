import Crypto
import DevAuthorizationServer
import Foundation
import Testing

/// RFC 7523.
struct ClientAssertionTests {
    private func withClient(
        _ body: (DevAuthorizationServer, Client, TestKey) async throws -> Void
    ) async throws {
        let key = TestKey()
        try await withServer({ $0.clients.append(try .jwt(key)) }) { server async throws in
            try await body(server, .jwt(server, key), key)
        }
    }

    /// The answer to a token request with this assertion: one for a code if the client was let in.
    private func answer(_ server: DevAuthorizationServer, _ assertion: [(String, String)]) async throws -> WireReply {
        var client = Client.jwt(server, TestKey())
        client.assertionKey = nil
        client.credentials = assertion
        return try await client.refresh("unknown")
    }

    @Test func logsInRefreshesAndRevokes() async throws {
        try await withClient { server, client, key async throws in
            let login = try await client.logIn()
            let refreshed = try await client.refresh(login.refresh)
            #expect(refreshed.status == 200)
            let identifiers = server.log.records.compactMap(\.assertionID)
            #expect(Set(identifiers).count == 2)
            let token = try #require(try refreshed.string("access_token"))
            let introspection = try await Wire.post(
                server.base + "/introspect", [("token", token)] + key.assertion(of: client.id, for: server.issuer))
            #expect(try introspection.json["active"] as? Bool == true)
            let revocation = try await Wire.post(
                server.base + "/revoke",
                [("token", try #require(try refreshed.string("refresh_token")))]
                    + key.assertion(of: client.id, for: server.base + "/revoke"))
            #expect(revocation.status == 200)
            #expect(server.grants.map(\.isRevoked) == [true])
        }
    }

    @Test func audienceMayBeIssuerOrEndpoint() async throws {
        try await withClient { server, client, key async throws in
            for audience in [server.issuer, server.base + "/token"] {
                let good = try key.assertion(of: client.id, for: audience)
                #expect(try await answer(server, good).error == "invalid_grant")
                let listed = try key.assertion(of: client.id, for: ["https://other.example", audience])
                #expect(try await answer(server, listed).error == "invalid_grant")
            }
        }
    }

    @Test func assertionCountsOnce() async throws {
        try await withClient { server, client, key async throws in
            let assertion = try key.assertion(of: client.id, for: server.issuer)
            #expect(try await answer(server, assertion).error == "invalid_grant")
            let replayed = try await answer(server, assertion)
            #expect((replayed.status, replayed.error) == (401, "invalid_client"))
            #expect(server.log.records.last?.reason == "replayed assertion")
        }
    }

    /// A nonce challenge uses the assertion up: the repeat needs a new one.
    @Test func assertionIsSpentByANonceChallenge() async throws {
        let key = TestKey()
        try await withServer({
            $0.clients.append(try .jwt(key))
            $0.noncePolicy = .required(rotation: .seconds(60))
        }) { server async throws in
            let proofs = TestKey()
            var client = Client.jwt(server, key)
            let assertion = try key.assertion(of: client.id, for: server.issuer)
            client.assertionKey = nil
            client.credentials = assertion
            let challenged = try await client.refresh("x", proof: proofs.proof("POST", client.tokenURL))
            #expect(challenged.error == "use_dpop_nonce")
            let nonce = try #require(challenged.header("dpop-nonce"))
            let repeated = try await client.refresh("x", proof: proofs.proof("POST", client.tokenURL, nonce: nonce))
            #expect(repeated.error == "invalid_client")
            client.credentials = try key.assertion(of: client.id, for: server.issuer)
            let fresh = try await client.refresh("x", proof: proofs.proof("POST", client.tokenURL, nonce: nonce))
            #expect(fresh.error == "invalid_grant")
        }
    }

    enum Defect: CaseIterable {
        case issuer, subject, audience, audienceList, noAudience, expired, farAhead, noExpiry, issuedAhead, notYet
        case noIdentifier, algorithm, none, critical, type, key, clientID, assertionType, malformed, secretBeside
        case basicBeside
    }

    @Test(arguments: Defect.allCases)
    func defectIsRefused(_ defect: Defect) async throws {
        try await withClient { server, client, key async throws in
            let now = Int(Date().timeIntervalSince1970)
            let id = client.id
            func made(
                _ audience: Any? = nil, by signer: TestKey? = nil, header: [String: Any] = [:],
                claims: [String: Any] = [:], removing: String? = nil
            ) throws -> [(String, String)] {
                try (signer ?? key).assertion(
                    of: id, for: audience ?? server.issuer, header: header, claims: claims, removing: removing)
            }
            var headers: [(String, String)] = []
            var parameters =
                switch defect {
                case .issuer: try made(claims: ["iss": "demo"])
                case .subject: try made(claims: ["sub": "demo"])
                case .audience: try made("https://other.example")
                case .audienceList: try made(["https://other.example"])
                case .noAudience: try made(removing: "aud")
                case .expired: try made(claims: ["exp": now - 1])
                case .farAhead: try made(claims: ["exp": now + 3_600])
                case .noExpiry: try made(removing: "exp")
                case .issuedAhead: try made(claims: ["iat": now + 60])
                case .notYet: try made(claims: ["nbf": now + 60])
                case .noIdentifier: try made(removing: "jti")
                case .algorithm: try made(header: ["alg": "ES384"])
                case .none: try made(header: ["alg": "none"])
                case .critical: try made(header: ["crit": ["b64"]])
                case .type: try made(header: ["typ": "dpop+jwt"])
                case .key: try made(by: TestKey())
                case .clientID: try made() + [("client_id", "demo")]
                case .assertionType: [("client_assertion_type", "x"), try made()[1]]
                case .malformed: [try made()[0], ("client_assertion", "a.b.c")]
                case .secretBeside: try made() + [("client_secret", "demo-post-secret")]
                case .basicBeside: try made()
                }
            if defect == .basicBeside {
                headers = [
                    ("Authorization", "Basic " + Data("demo-basic:demo-basic-secret".utf8).base64EncodedString())
                ]
            }
            parameters += [("grant_type", "refresh_token"), ("refresh_token", "x")]
            let reply = try await Wire.post(client.tokenURL, parameters, headers: headers)
            let isRequestFault = [.clientID, .secretBeside, .basicBeside].contains(defect)
            #expect(reply.error == (isRequestFault ? "invalid_request" : "invalid_client"))
        }
    }

    @Test func clientWithAKeyHasNoOtherWayIn() async throws {
        try await withClient { server, client, _ async throws in
            var bare = client
            bare.assertionKey = nil
            bare.credentials = [("client_id", client.id)]
            #expect(try await bare.refresh("x").error == "invalid_client")
            // And an assertion is none for a client with a secret.
            var foreign = Client.jwt(server, TestKey())
            foreign.id = "demo-post"
            #expect(try await foreign.refresh("x").error == "invalid_client")
        }
    }

    @Test(arguments: [
        "", "{}", #"{"kty":"oct","k":"c2VjcmV0"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"\#(x)"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","use":"enc"}"#,
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","alg":"ES384"}"#,
    ])
    func keyMustBeAPublicOne(jwk: String) {
        #expect(RegisteredKey(jwk: jwk) == nil)
    }

    private static let x = base64URL(TestKey().key.publicKey.rawRepresentation.prefix(32))
    private static let y = base64URL(TestKey().key.publicKey.rawRepresentation.suffix(32))
}
