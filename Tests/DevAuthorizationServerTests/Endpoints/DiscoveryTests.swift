import DevAuthorizationServer
import Foundation
import JWTKit
import Testing

struct DiscoveryTests {
    private struct Claims: JWTPayload {
        let iss: String
        let sub: String
        let aud: String
        let nonce: String?
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws { try exp.verifyNotExpired() }
    }

    @Test func bothDocumentsNameTheIssuer() async throws {
        try await withServer { server in
            for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
                let reply = try await Wire.get(server.issuer + path)
                #expect(reply.status == 200)
                #expect(try reply.string("issuer") == server.issuer)
                #expect(try reply.string("token_endpoint") == server.issuer + "/token")
                #expect(try reply.json["code_challenge_methods_supported"] as? [String] == ["S256"])
            }
        }
    }

    /// RFC 8414 §3.1 inserts the well-known segment, OpenID Discovery §4 appends it.
    @Test func issuerMayHaveAPath() async throws {
        try await withServer({ $0.issuerPath = "/tenant/one" }) { server in
            let root = "http://127.0.0.1:\(server.port)"
            #expect(server.issuer == root + "/tenant/one")
            let document = try await Wire.get(root + "/.well-known/oauth-authorization-server/tenant/one")
            #expect(try document.string("issuer") == server.issuer)
            let openID = try await Wire.get(server.issuer + "/.well-known/openid-configuration")
            #expect(try openID.string("token_endpoint") == server.issuer + "/token")
            for path in ["/.well-known/oauth-authorization-server", "/token"] {
                #expect(try await Wire.get(root + path).status == 404)
            }
            let (client, key) = (Client(server), TestKey())
            _ = try await client.logIn(proof: key.proof("POST", client.tokenURL))
            #expect(try await Wire.get(root + "/dev/counters").status == 200)
        }
    }

    @Test func unknownPathIsNotFound() async throws {
        try await withServer { server async throws in
            #expect(try await Wire.get(server.base + "/nothing").status == 404)
            #expect(try await Wire.send("PUT", server.base + "/jwks").status == 405)
        }
    }

    @Test(arguments: AuthorizationServerConfiguration.SigningAlgorithm.allCases)
    func idTokenVerifiesAgainstTheKeySet(algorithm: AuthorizationServerConfiguration.SigningAlgorithm) async throws {
        try await withServer({ $0.idTokenAlgorithm = algorithm }) { server in
            let client = Client(server)
            let code = try await client.code([("scope", "openid read"), ("nonce", "n-1")])
            let token = try #require(try await client.exchange(code).string("id_token"))
            let keys = try await JWTKeyCollection().add(jwksJSON: try await Wire.get(server.base + "/jwks").text)
            let claims = try await keys.verify(token, as: Claims.self)
            #expect(claims.iss == server.issuer)
            #expect(claims.sub == "alice")
            #expect(claims.aud == "demo")
            #expect(claims.nonce == "n-1")
        }
    }
}
