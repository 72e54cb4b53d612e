import DevAuthorizationServer
import Foundation
import Testing

/// What differs from client to client and can be changed while the server runs, and what is counted of it.
struct BehaviourTests {
    private func post(_ server: DevAuthorizationServer, _ body: String) async throws -> WireReply {
        try await Wire.send(
            "POST", server.base + "/dev/behaviour", headers: [("Content-Type", "application/json")], body: body)
    }

    private func client(_ server: DevAuthorizationServer, _ id: String) -> Client {
        var client = Client(server)
        client.id = id
        client.credentials = [("client_id", id)]
        return client
    }

    @Test func eachClientMayBeTreatedInItsOwnWay() async throws {
        let clients = [
            RegisteredClient(id: "stays", behaviour: ClientBehaviour(rotation: .never)),
            RegisteredClient(id: "grace", behaviour: ClientBehaviour(graceWindow: .seconds(30))),
            RegisteredClient(id: "mild", behaviour: ClientBehaviour(reuse: .refuse)),
        ]
        try await withServer({ $0.clients += clients }) { server async throws in
            var token: [String: String] = [:]
            for client in clients + [.demo] {
                token[client.id] = server.issueGrant(user: "alice", client: client.id)?.refreshToken
            }
            func refresh(_ id: String) async throws -> WireReply {
                try await client(server, id).refresh(token[id] ?? "")
            }
            for id in token.keys { #expect(try await refresh(id).status == 200) }
            #expect(try await refresh("stays").json["refresh_token"] == nil)
            #expect(try await refresh("grace").string("refresh_token") != nil)
            #expect(try await refresh("mild").error == "invalid_grant")
            #expect(try await refresh("demo").error == "invalid_grant")
            let revoked = server.grants.filter(\.isRevoked).map(\.client)
            #expect(revoked == ["demo"])
        }
    }

    @Test func reuseMayEndEverythingThatTheUserGaveToTheClient() async throws {
        try await withServer({ $0.reuseResponse = .revokeUser }) { server async throws in
            let client = Client(server)
            let login = try await client.logIn(user: "alice")
            let sibling = try await client.logIn(user: "alice")
            let other = try await client.logIn(user: "bob")
            let elsewhere = try #require(server.issueGrant(user: "alice", client: "demo-post"))
            #expect(try await client.refresh(login.refresh).status == 200)
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
            #expect(try await client.refresh(sibling.refresh).error == "invalid_grant")
            #expect(try await client.refresh(other.refresh).status == 200)
            #expect(try await Client.post(server).refresh(elsewhere.refreshToken ?? "").status == 200)
        }
    }

    @Test func behaviourChangesWhileTheServerRuns() async throws {
        try await withServer { server async throws in
            let client = Client(server)
            let login = try #require(server.issueGrant(user: "alice"))
            let reading = try await post(
                server, #"{"client":"demo","rotation":"never","access_token_lifetime_ms":200,"nonce_check":"never"}"#)
            let demo = try (reading.json["clients"] as? [String: [String: Any]])?["demo"]
            #expect(demo?["rotation"] as? String == "never")
            #expect(demo?["access_token_lifetime_ms"] as? Int == 200)
            #expect(demo?["reuse"] as? String == "revoke")
            let reply = try await client.refresh(login.refreshToken ?? "")
            #expect(try reply.json["refresh_token"] == nil)
            #expect(try reply.json["expires_in"] as? Double == 0.2)
            let access = try #require(try reply.string("access_token"))
            server.advanceClock(by: .milliseconds(200))
            #expect(try await client.resource("Bearer " + access).status == 401)

            // What the whole server does is below what the client does.
            _ = try await post(server, #"{"rotation":"always","access_token_lifetime_ms":5000}"#)
            #expect(try await client.refresh(login.refreshToken ?? "").json["refresh_token"] == nil)
            #expect(try await Wire.send("DELETE", server.base + "/dev/behaviour").status == 200)
            let rotated = try await client.refresh(login.refreshToken ?? "")
            #expect(try rotated.string("refresh_token") != nil)
            #expect(try rotated.json["expires_in"] as? Int == 3600)
        }
    }

    @Test(arguments: [
        #"{"client":"nobody","rotation":"never"}"#, #"{"rotation":"sometimes"}"#, #"{"grace_ms":-1}"#,
        #"{"grace":30}"#, #"{"delay_ms":"1"}"#, "[]",
    ])
    func wrongBehaviourIsRefused(body: String) async throws {
        try await withServer { server async throws in
            let status = try await post(server, body).status
            #expect(status == (body.contains("nobody") ? 404 : 400))
        }
    }

    @Test func delaysLieBeforeAndAfterTheAct() async throws {
        try await withServer { server async throws in
            let login = try #require(server.issueGrant(user: "alice"))
            server.setBehaviour(ClientBehaviour(replyDelay: .seconds(3)))
            let clock = ContinuousClock()
            let start = clock.now
            async let reply = Client(server).refresh(login.refreshToken ?? "")
            while server.counters.rotated == 0, clock.now - start < .seconds(60) {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(server.counters.rotated == 1)
            let token = try #require(try await reply.string("refresh_token"))
            #expect(clock.now - start >= .seconds(3))

            server.setBehaviour(ClientBehaviour(delay: .milliseconds(500), replyDelay: .zero))
            let second = clock.now
            #expect(try await Client(server).refresh(token).status == 200)
            #expect(clock.now - second >= .milliseconds(500))
        }
    }

    @Test func nonceMayBeCheckedLastForOneClient() async throws {
        try await withServer({ $0.noncePolicy = .required(rotation: .seconds(60)) }) { server async throws in
            server.setBehaviour(ClientBehaviour(nonceCheck: .never))
            server.setBehaviour(ClientBehaviour(nonceCheck: .last), client: "demo")
            let key = TestKey()
            let client = Client(server)
            let login = try #require(server.issueGrant(user: "alice", keyThumbprint: key.thumbprint))
            let token = login.refreshToken ?? ""
            #expect(
                try await client.refresh(token, proof: key.proof("POST", client.tokenURL)).error == "use_dpop_nonce")
            #expect(server.grants.first?.rotated == 1)
            let other = try #require(server.issueGrant(user: "alice", client: "demo-post"))
            let reply = try await Client.post(server).refresh(
                other.refreshToken ?? "", proof: key.proof("POST", client.tokenURL))
            #expect(reply.status == 200)
        }
    }

    @Test func everyRefreshTokenIsAccountedFor() async throws {
        try await withServer({ $0.graceWindow = .seconds(10) }) { server async throws in
            let client = Client(server)
            let login = try await client.logIn()
            let second = try #require(try await client.refresh(login.refresh).string("refresh_token"))
            _ = try await client.refresh(login.refresh)
            #expect(try await client.refresh(login.refresh, [("scope", "profile")]).error == "invalid_scope")
            let third = try #require(try await client.refresh(second).string("refresh_token"))
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")

            let grant = try #require(server.grants.first)
            #expect(grant.currentRefreshToken == TokenFingerprint.of(third))
            #expect((grant.refreshRequests, grant.rotated, grant.replayedInGrace, grant.reuseDetected) == (5, 2, 1, 1))
            #expect(server.counters.refreshRequests == 5)

            let list = try JSON.array(try await Wire.get(server.base + "/dev/refresh-tokens?grant=\(grant.id)").body)
            #expect(
                list.map { $0["fingerprint"] as? String } == [login.refresh, second, third].map(TokenFingerprint.of))
            #expect(list.map { $0["presented"] as? Int } == [4, 1, 0])
            #expect(list.map { $0["redeemed"] as? Int } == [2, 1, 0])
            #expect(list.map { $0["reuse_detected"] as? Int } == [1, 0, 0])
            #expect(list.map { $0["successor"] as? String } == [second, third].map(TokenFingerprint.of) + [nil])
            #expect(try JSON.array(try await Wire.get(server.base + "/dev/refresh-tokens?grant=none").body).isEmpty)
            #expect(try await Wire.get(server.base + "/dev/refresh-tokens?user=x").status == 400)
        }
    }
}
