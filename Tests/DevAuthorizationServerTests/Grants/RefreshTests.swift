import DevAuthorizationServer
import Testing

struct RefreshTests {
    @Test func refreshRotatesAndTheOldTokenKillsTheFamily() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            let second = try await client.refresh(login.refresh)
            #expect(second.status == 200)
            let rotated = try #require(try second.string("refresh_token"))
            #expect(rotated != login.refresh)
            #expect(try second.string("access_token") != login.access)

            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
            #expect(try await client.refresh(rotated).error == "invalid_grant")
            let access = try #require(try second.string("access_token"))
            #expect(try await client.resource("Bearer " + access).status == 401)
            #expect(server.counters.rotated == 1)
            #expect(server.counters.reuseDetected == 1)
            #expect(server.counters.grantsRevoked == 1)
        }
    }

    @Test func chainsOfOneUserAreIndependent() async throws {
        try await withServer { server in
            let client = Client(server)
            let first = try await client.logIn()
            let second = try await client.logIn()
            #expect(try await client.refresh(first.refresh).status == 200)
            #expect(try await client.refresh(first.refresh).error == "invalid_grant")
            #expect(try await client.refresh(second.refresh).status == 200)
        }
    }

    @Test func withoutRotationTheTokenStays() async throws {
        try await withServer({ $0.refreshRotation = .never }) { server in
            let client = Client(server)
            let login = try await client.logIn()
            for _ in 0..<3 {
                let reply = try await client.refresh(login.refresh)
                #expect(reply.status == 200)
                #expect(try reply.json["refresh_token"] == nil)
            }
            #expect(server.counters.rotated == 0)
        }
    }

    @Test func graceGivesTheSuccessorAgainUntilItIsUsed() async throws {
        try await withServer({ $0.graceWindow = .seconds(30) }) { server in
            let client = Client(server)
            let login = try await client.logIn()
            let lost = try await client.refresh(login.refresh)
            server.advanceClock(by: .seconds(29))
            let replayed = try await client.refresh(login.refresh)
            #expect(replayed.status == 200)
            let successor = try #require(try replayed.string("refresh_token"))
            #expect(try lost.string("refresh_token") == successor)
            #expect(server.counters.replayedInGrace == 1)

            #expect(try await client.refresh(successor).status == 200)
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
            #expect(server.counters.reuseDetected == 1)
        }
    }

    @Test func graceEnds() async throws {
        try await withServer({ $0.graceWindow = .seconds(30) }) { server in
            let client = Client(server)
            let login = try await client.logIn()
            #expect(try await client.refresh(login.refresh).status == 200)
            server.advanceClock(by: .seconds(31))
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
        }
    }

    @Test func reuseMayBeOnlyRefused() async throws {
        try await withServer({ $0.reuseResponse = .refuse }) { server in
            let client = Client(server)
            let login = try await client.logIn()
            let rotated = try #require(try await client.refresh(login.refresh).string("refresh_token"))
            #expect(try await client.refresh(login.refresh).error == "invalid_grant")
            #expect(try await client.refresh(rotated).status == 200)
        }
    }

    @Test func scopeMayShrinkForOneAccessTokenButNeverGrow() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            let narrow = try await client.refresh(login.refresh, [("scope", "read")])
            #expect(try narrow.string("scope") == "read")
            let token = try #require(try narrow.string("refresh_token"))
            #expect(try await client.refresh(token, [("scope", "read profile")]).error == "invalid_scope")
            // A refusal for its scope does not spend the token, and the grant is as wide as before.
            #expect(try await client.refresh(token).string("scope") == "read write")
        }
    }

    @Test func tokenOfAnotherClientIsRefusedAndUnharmed() async throws {
        try await withServer { server in
            let login = try await Client(server).logIn()
            #expect(try await Client.basic(server).refresh(login.refresh).error == "invalid_grant")
            #expect(try await Client(server).refresh(login.refresh).status == 200)
        }
    }

    @Test(arguments: ["unknown", "at_x", "ümlaut"])
    func unknownTokenIsRefused(token: String) async throws {
        try await withServer { server in
            let reply = try await Client(server).refresh(token)
            #expect(reply.status == 400)
            #expect(reply.error == "invalid_grant")
        }
    }

    @Test func accessTokenIsNoRefreshToken() async throws {
        try await withServer { server in
            let login = try await Client(server).logIn()
            #expect(try await Client(server).refresh(login.access).error == "invalid_grant")
        }
    }

    @Test func refreshTokensEndWithTheirLifetime() async throws {
        try await withServer({ $0.refreshTokenLifetime = .seconds(100) }) { server in
            let client = Client(server)
            let login = try await client.logIn()
            server.advanceClock(by: .seconds(99))
            let reply = try await client.refresh(login.refresh)
            #expect(reply.status == 200)
            server.advanceClock(by: .seconds(1))
            let rotated = try #require(try reply.string("refresh_token"))
            #expect(try await client.refresh(rotated).error == "invalid_grant")
        }
    }

    @Test func refreshMayEndTheAccessTokenBefore() async throws {
        for isExclusive in [true, false] {
            try await withServer({ $0.keepsOneAccessToken = isExclusive }) { server in
                let client = Client(server)
                let login = try await client.logIn()
                _ = try await client.refresh(login.refresh)
                #expect(try await client.resource("Bearer " + login.access).status == (isExclusive ? 401 : 200))
            }
        }
    }

    @Test func concurrentUsesOfOneTokenRotateItOnce() async throws {
        try await withServer { server in
            let client = Client(server)
            let login = try await client.logIn()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await client.refresh(login.refresh).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(server.counters.rotated == 1)
            #expect(server.counters.reuseDetected >= 1)
        }
    }
}
