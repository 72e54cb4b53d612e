import DevAuthorizationServer
import Testing

struct ResourceTests {
    @Test func bearerTokenOpensIt() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            for scheme in ["Bearer ", "bearer "] {
                let reply = try await client.resource(scheme + login.access)
                #expect(reply.status == 200)
                #expect(try reply.string("user") == "alice")
            }
        }
    }

    /// RFC 6750 §3.1: who sends no token gets a challenge without an error code.
    @Test func requestWithoutATokenLearnsTheSchemes() async throws {
        try await withServer { server in
            let reply = try await Client(server).resource(nil)
            #expect(reply.status == 401)
            let challenges = reply.allHeaders("www-authenticate")
            #expect(challenges.count == 2)
            #expect(challenges.allSatisfy { !$0.contains("error=") })
            #expect(challenges.contains { $0.hasPrefix("DPoP ") && $0.contains("algs=\"ES256 ES384 EdDSA\"") })
        }
    }

    @Test(arguments: ["Bearer unknown", "DPoP unknown"])
    func unknownTokenIsRefused(field: String) async throws {
        try await withServer { server in
            let reply = try await Client(server).resource(field)
            #expect(reply.status == 401)
            #expect(reply.header("www-authenticate")?.contains("error=\"invalid_token\"") == true)
        }
    }

    @Test(arguments: ["Bearer", "Bearer ", "Bearer a b"])
    func malformedAuthorizationIsABadRequest(field: String) async throws {
        try await withServer { server async throws in
            #expect(try await Client(server).resource(field).status == 400)
        }
    }

    @Test func tokenEndsWithItsLifetimeOrItsGrant() async throws {
        try await withServer { server in
            let client = Client(server)
            let first = try await client.logIn()
            server.advanceClock(by: .seconds(3600))
            #expect(try await client.resource("Bearer " + first.access).status == 401)
            let second = try await client.logIn()
            #expect(server.revokeGrant(user: "alice") == ["g1", "g2"])
            #expect(try await client.resource("Bearer " + second.access).status == 401)
            #expect(try await client.refresh(second.refresh).error == "invalid_grant")
        }
    }

    @Test func expiredAccessTokenLeavesTheChainAlone() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            server.expireAccessTokens(user: "alice")
            #expect(try await client.resource("Bearer " + login.access).status == 401)
            #expect(try await client.refresh(login.refresh).status == 200)
        }
    }

    @Test func boundTokenNeedsItsProof() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let url = server.base + "/resource"
            let login = try await client.logIn(proof: key.proof("POST", client.tokenURL))
            let token = login.access

            #expect(
                try await client.resource("DPoP " + token, proof: key.proof("GET", url, token: token)).status == 200)

            let refusals: [(String, String?, String)] = [
                ("Bearer", nil, "invalid_token"),
                ("DPoP", nil, "invalid_dpop_proof"),
                ("DPoP", try key.proof("GET", url), "invalid_dpop_proof"),
                ("DPoP", try key.proof("GET", url, token: login.refresh), "invalid_dpop_proof"),
                ("DPoP", try key.proof("POST", url, token: token), "invalid_dpop_proof"),
                ("DPoP", try key.proof("GET", client.tokenURL, token: token), "invalid_dpop_proof"),
                ("DPoP", try TestKey().proof("GET", url, token: token), "invalid_token"),
            ]
            for (scheme, proof, error) in refusals {
                let reply = try await client.resource(scheme + " " + token, proof: proof)
                #expect(reply.status == 401)
                let challenge = reply.header("www-authenticate") ?? ""
                #expect(challenge.hasPrefix("DPoP ") && challenge.contains("error=\"\(error)\""), "\(challenge)")
            }
        }
    }

    @Test func proofForTheResourceIsGoodOnce() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let token = try await client.logIn(proof: key.proof("POST", client.tokenURL)).access
            let proof = try key.proof("GET", server.base + "/resource", token: token)
            #expect(try await client.resource("DPoP " + token, proof: proof).status == 200)
            #expect(try await client.resource("DPoP " + token, proof: proof).status == 401)
        }
    }

    @Test func bearerTokenIsNoDPoPToken() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let token = try await client.logIn().access
            let proof = try key.proof("GET", server.base + "/resource", token: token)
            #expect(try await client.resource("DPoP " + token, proof: proof).status == 401)
        }
    }
}
