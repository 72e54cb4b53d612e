import DevAuthorizationServer
import Testing

/// RFC 6749 §4.4.
struct ClientCredentialsTests {
    private let request = [("grant_type", "client_credentials")]

    @Test func clientGetsATokenOfItsOwn() async throws {
        let key = TestKey()
        try await withServer({ $0.clients.append(try .jwt(key)) }) { server async throws in
            for client in [Client.basic(server), .post(server), .jwt(server, key)] {
                let reply = try await client.token(request, [("scope", "read write")])
                #expect(reply.status == 200)
                #expect(try reply.string("scope") == "read write")
                #expect(try reply.json["refresh_token"] == nil)
                let token = try #require(try reply.string("access_token"))
                #expect(try await client.resource("Bearer " + token).string("user") == client.id)
                #expect(try await client.token(request).status == 200)
            }
            #expect(server.grants.count == 3)
        }
    }

    @Test func tokenMayBeBoundToKeyAndResource() async throws {
        try await withServer { server async throws in
            let (client, key) = (Client.basic(server), TestKey())
            let resource = server.base + "/resource"
            let reply = try await client.token(
                request, [("resource", resource)], proof: key.proof("POST", client.tokenURL))
            #expect(try reply.string("token_type") == "DPoP")
            let token = try #require(try reply.string("access_token"))
            let proof = try key.proof("GET", resource, token: token)
            let opened = try await client.resource("DPoP " + token, proof: proof)
            #expect(opened.status == 200)
            #expect(try opened.json["aud"] as? [String] == [resource])
            #expect(
                try await client.token(request, [("resource", "https://evil.example/")]).error == "invalid_target")
        }
    }

    @Test func whatIsNotTheClientsOwnIsRefused() async throws {
        try await withServer { server async throws in
            #expect(try await Client(server).token(request).error == "unauthorized_client")
            for scope in ["openid", "offline_access", "profile", "everything"] {
                #expect(try await Client.basic(server).token(request, [("scope", scope)]).error == "invalid_scope")
            }
        }
    }
}
