import DevAuthorizationServer
import Testing

struct NonceTests {
    private func exchange(_ client: Client, _ key: TestKey, nonce: String?) async throws -> WireReply {
        try await client.exchange(
            try await client.code(), proof: key.proof("POST", client.tokenURL, nonce: nonce))
    }

    @Test func challengeBringsTheNonceThatPasses() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server in
            let (client, key) = (Client(server), TestKey())
            let code = try await client.code()
            let first = try await client.exchange(code, proof: key.proof("POST", client.tokenURL))
            #expect(first.status == 400)
            #expect(first.error == "use_dpop_nonce")
            #expect(first.allHeaders("dpop-nonce").count == 1)
            // The challenge has not spent the code.
            let nonce = try #require(first.header("dpop-nonce"))
            let second = try await client.exchange(code, proof: key.proof("POST", client.tokenURL, nonce: nonce))
            #expect(second.status == 200)
            #expect(second.header("dpop-nonce") == nonce)
            #expect(try await exchange(client, key, nonce: "invented").error == "use_dpop_nonce")
        }
    }

    @Test func nonceRotatesAndTheOneBeforeStillPasses() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server in
            let (client, key) = (Client(server), TestKey())
            let old = try #require(try await exchange(client, key, nonce: nil).header("dpop-nonce"))
            server.advanceClock(by: .seconds(61))
            let reply = try await exchange(client, key, nonce: old)
            #expect(reply.status == 200)
            #expect(reply.header("dpop-nonce") != old)
            server.advanceClock(by: .seconds(60))
            #expect(try await exchange(client, key, nonce: old).error == "use_dpop_nonce")
        }
    }

    @Test func nonceMayBeGoodForOneRequestOnly() async throws {
        try await withServer({ $0.noncePolicy = .requiredOnce }) { server in
            let (client, key) = (Client(server), TestKey())
            let first = try #require(try await exchange(client, key, nonce: nil).header("dpop-nonce"))
            let reply = try await exchange(client, key, nonce: first)
            #expect(reply.status == 200)
            let second = try #require(reply.header("dpop-nonce"))
            #expect(try await exchange(client, key, nonce: first).error == "use_dpop_nonce")
            #expect(try await exchange(client, key, nonce: second).status == 200)
        }
    }

    @Test func forgottenNonceIsStale() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server in
            let (client, key) = (Client(server), TestKey())
            let nonce = try #require(try await exchange(client, key, nonce: nil).header("dpop-nonce"))
            server.forgetNonces()
            #expect(try await exchange(client, key, nonce: nonce).error == "use_dpop_nonce")
        }
    }

    /// bluesky-social/atproto#3859
    @Test func serverMaySpendTheTokenBeforeItLooksAtTheNonce() async throws {
        try await withServer({
            $0.noncePolicy = .required(rotation: .seconds(60))
            $0.nonceCheck = .last
        }) { server in
            let (client, key) = (Client(server), TestKey())
            let login = try #require(server.issueGrant(user: "alice", keyThumbprint: key.thumbprint))
            let token = try #require(login.refreshToken)
            let first = try await client.refresh(token, proof: key.proof("POST", client.tokenURL))
            #expect(first.error == "use_dpop_nonce")
            let nonce = try #require(first.header("dpop-nonce"))
            let second = try await client.refresh(token, proof: key.proof("POST", client.tokenURL, nonce: nonce))
            #expect(second.error == "invalid_grant")
        }
    }

    @Test func noncesOfServerAndResourceAreNotMixed() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server in
            let (client, key) = (Client(server), TestKey())
            let nonce = try #require(try await exchange(client, key, nonce: nil).header("dpop-nonce"))
            let token = try #require(
                try await exchange(client, key, nonce: nonce).string("access_token"))
            let url = server.base + "/resource"
            let first = try await client.resource(
                "DPoP " + token, proof: key.proof("GET", url, token: token, nonce: nonce))
            #expect(first.status == 401)
            #expect(first.header("www-authenticate")?.contains("error=\"use_dpop_nonce\"") == true)
            let other = try #require(first.header("dpop-nonce"))
            let second = try await client.resource(
                "DPoP " + token, proof: key.proof("GET", url, token: token, nonce: other))
            #expect(second.status == 200)
        }
    }
}
