import DevAuthorizationServer
import Foundation
import Testing

/// RFC 9126.
struct PushedRequestTests {
    @Test func pushedRequestStandsForItsParametersOnce() async throws {
        try await withServer { server async throws in
            let client = Client(server)
            let pushed = try await client.push([("login_hint", "bob")])
            #expect(pushed.status == 201)
            #expect(pushed.header("cache-control") == "no-store")
            #expect(try pushed.json["expires_in"] as? Int == 60)
            let uri = try #require(try pushed.string("request_uri"))
            #expect(uri.hasPrefix("urn:ietf:params:oauth:request_uri:"))

            // Parameters that the browser brings do not count.
            let reply = try await client.authorize(requestURI: uri, [("scope", "profile"), ("login_hint", "eve")])
            #expect(reply.status == 302)
            #expect(reply.redirectParameters["state"] == "s t&te")
            let tokens = try await client.exchange(try #require(reply.redirectParameters["code"]))
            #expect(try tokens.string("scope") == "read write")
            #expect(server.grants.map(\.user) == ["bob"])

            let again = try await client.authorize(requestURI: uri)
            #expect(again.status == 400)
            #expect(again.header("location") == nil)
            #expect(server.log.records.last?.outcome == "invalid_request_uri")
        }
    }

    @Test func pushedRequestExpires() async throws {
        try await withServer({ $0.pushedRequestLifetime = .seconds(30) }) { server async throws in
            let client = Client(server)
            let uri = try #require(try await client.push().string("request_uri"))
            server.advanceClock(by: .seconds(30))
            #expect(try await client.authorize(requestURI: uri).status == 400)
            #expect(server.log.records.last?.reason == "expired request_uri")
        }
    }

    @Test func pushedRequestBelongsToItsClient() async throws {
        try await withServer { server async throws in
            let client = Client(server)
            let uri = try #require(try await client.push().string("request_uri"))
            #expect(try await client.authorize(requestURI: uri, client: "demo-post").status == 400)
            // The stranger's attempt did not use it up.
            #expect(try await client.authorize(requestURI: uri).status == 302)
        }
    }

    @Test(
        arguments: [
            ([("client_id", nil)], "invalid_client"), ([("response_type", "token")], "unsupported_response_type"),
            ([("redirect_uri", "https://evil.example/")], "invalid_request"),
            ([("redirect_uri", nil)], "invalid_request"), ([("code_challenge", nil)], "invalid_request"),
            ([("scope", "everything")], "invalid_scope"), ([("request", "e30.e30.")], "request_not_supported"),
            ([("request_uri", "urn:ietf:params:oauth:request_uri:x")], "invalid_request"),
            ([("dpop_jkt", "short")], "invalid_request"), ([("resource", "https://evil.example/")], "invalid_target"),
        ] as [([(String, String?)], String)])
    func faultsAreToldAtOnce(changes: [(String, String?)], error: String) async throws {
        try await withServer { server async throws in
            let reply = try await Client(server).push(changes)
            #expect((400...401).contains(reply.status))
            #expect(reply.error == error)
        }
    }

    @Test func clientAuthenticatesAsAtTheTokenEndpoint() async throws {
        let key = TestKey()
        try await withServer({ $0.clients.append(try .jwt(key)) }) { server async throws in
            #expect(try await Client.basic(server).push().status == 201)
            #expect(try await Client.post(server).push().status == 201)
            #expect(try await Client.jwt(server, key).push().status == 201)
            #expect(try await Client.basic(server, secret: "wrong").push().error == "invalid_client")
            #expect(try await Client.post(server, secret: "wrong").push().error == "invalid_client")
            #expect(try await Client.jwt(server, TestKey()).push().error == "invalid_client")
            // The parameter is needed even where the client authenticates otherwise.
            #expect(try await Client.basic(server).push([("client_id", nil)]).error == "invalid_request")
        }
    }

    @Test func pushingMayBeRequired() async throws {
        try await withServer({ $0.requiresPushedRequests = true }) { server async throws in
            let client = Client(server)
            let plain = try await client.authorize()
            #expect(plain.redirectParameters["error"] == "invalid_request")
            let uri = try #require(try await client.push().string("request_uri"))
            #expect(try await client.authorize(requestURI: uri).redirectParameters["code"] != nil)
            let metadata = try await Wire.get(server.base + "/.well-known/oauth-authorization-server")
            #expect(try metadata.json["require_pushed_authorization_requests"] as? Bool == true)
            #expect(try metadata.string("pushed_authorization_request_endpoint") == server.base + "/par")
        }
        var one = RegisteredClient(id: "careful", requiresPushedRequests: true)
        one.redirectURIs = [Client.redirectURI]
        try await withServer({ $0.clients.append(one) }) { server async throws in
            var careful = Client(server)
            careful.id = one.id
            #expect(try await careful.authorize().redirectParameters["error"] == "invalid_request")
            #expect(try await Client(server).authorize().redirectParameters["code"] != nil)
        }
    }

    /// RFC 9449 §10.1: the key in the header and the one that is named are the same, and the code is bound to it.
    @Test(arguments: ["header", "parameter", "both"])
    func codeIsBoundToTheKey(way: String) async throws {
        try await withServer { server async throws in
            let (client, key) = (Client(server), TestKey())
            let url = server.base + "/par"
            let pushed = try await client.push(
                way == "header" ? [] : [("dpop_jkt", key.thumbprint)],
                proof: way == "parameter" ? nil : try key.proof("POST", url))
            let uri = try #require(try pushed.string("request_uri"))
            let code = try #require(try await client.authorize(requestURI: uri).redirectParameters["code"])
            #expect(try await client.exchange(code).error == "invalid_dpop_proof")
            let stranger = try TestKey().proof("POST", client.tokenURL)
            #expect(try await client.exchange(code, proof: stranger).error == "invalid_dpop_proof")
            let good = try await client.exchange(code, proof: key.proof("POST", client.tokenURL))
            #expect(try good.string("token_type") == "DPoP")
        }
    }

    @Test func twoKeysAreRefused() async throws {
        try await withServer { server async throws in
            let proof = try TestKey().proof("POST", server.base + "/par")
            let reply = try await Client(server).push([("dpop_jkt", TestKey().thumbprint)], proof: proof)
            #expect((reply.status, reply.error) == (400, "invalid_dpop_proof"))
            // A proof for another endpoint is none for this one.
            let foreign = try TestKey().proof("POST", server.base + "/token")
            #expect(try await Client(server).push(proof: foreign).error == "invalid_dpop_proof")
        }
    }

    @Test func nonceIsAskedForHereToo() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server async throws in
            let (client, key) = (Client(server), TestKey())
            let url = server.base + "/par"
            let refused = try await client.push(proof: key.proof("POST", url))
            #expect((refused.status, refused.error) == (400, "use_dpop_nonce"))
            let nonce = try #require(refused.header("dpop-nonce"))
            let accepted = try await client.push(proof: key.proof("POST", url, nonce: nonce))
            #expect(accepted.status == 201)
            // The same nonce is good at the token endpoint.
            let uri = try #require(try accepted.string("request_uri"))
            let code = try #require(try await client.authorize(requestURI: uri).redirectParameters["code"])
            let proof = try key.proof("POST", client.tokenURL, nonce: nonce)
            #expect(try await client.exchange(code, proof: proof).status == 200)
        }
    }
}
