import EngineSupport
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

@Suite(.tags(.everyEngine))
struct AccessTokenTests {
    @Test func aGoodTokenIsReturnedWithoutARequest() async throws {
        let world = try await World()
        try await world.addChain()
        let token = try await world.users.accessToken(userId: "alice")
        #expect(token.name == "1")
        #expect(token.tokenType == .bearer)
        #expect(token.expiresAt == world.now.addingTimeInterval(3_600))
        #expect(world.transport.requestCount == 0)
    }

    @Test func expiryRenewsAndUsesEachRefreshTokenOnce() async throws {
        let world = try await World()
        let login = try await world.addChain()
        for round in 2...4 {
            world.transport.enqueue(.generation("\(round)"))
            world.expire()
            let token = try await world.users.accessToken(for: .login(login.id))
            #expect(token.name == "\(round)")
            #expect(token.generation == round)
        }
        let sent = world.transport.requests.map { $0.form["refresh_token"] }
        #expect(sent == ["1", "2", "3"].map { Sample.marker + "refresh-" + $0 })
        #expect(world.transport.requests.allSatisfy { $0.form["grant_type"] == "refresh_token" })
    }

    @Test func aReplyWithoutRefreshTokenKeepsTheOldOne() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.tokens(accessToken: Sample.marker + "access-2"), .generation("3"))
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        world.expire()
        #expect(try await world.users.accessToken(userId: "alice").name == "3")
        #expect(world.transport.requests.last?.form["refresh_token"] == Sample.marker + "refresh-1")
    }

    @Test func renewalOfOneLoginLeavesTheOthersAlone() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "a1")
        let second = try await world.addChain(name: "b1")
        world.transport.enqueue(.generation("a2"))
        #expect(try await world.users.accessToken(for: .login(first.id), .renewed).name == "a2")
        #expect(try await world.users.accessToken(for: .login(second.id)).name == "b1")
        await #expect(try world.vault.login(second.id).generation == 1)
    }

    @Test func severalLoginsAndNoneNamedIsAmbiguous() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "1")
        let second = try await world.addChain(name: "2")
        do {
            _ = try await world.users.accessToken(userId: "alice")
            Issue.record("a login was guessed")
        } catch let error as VaultError {
            #expect(error.code == .ambiguousLogin)
            #expect(Set(error.logins) == [first.id, second.id])
        }
    }

    @Test func unknownUsersAndLoginsAreToldApart() async throws {
        let world = try await World()
        let login = try await world.addChain()
        #expect(await code { try await world.users.accessToken(userId: "nobody") } == .unknownUser)
        try await world.users.logOut(.login(login.id), revokes: false)
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .unknownLogin)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .notLoggedIn)
    }

    @Test func aHugeOrEmptyUserIdIsRefused() async throws {
        let world = try await World()
        let huge = String(repeating: "x", count: 1 << 20)
        #expect(await code { try await world.users.accessToken(userId: huge) } == .invalidArgument)
        #expect(await code { try await world.addChain(user: huge) } == .invalidArgument)
        #expect(await code { try await world.users.accessToken(userId: "") } == .invalidArgument)
        #expect(await code { try await world.users.eraseUser(huge) } == .invalidArgument)
        #expect(await code { try await world.vault.user(huge) } == .invalidArgument)
    }

    @Test(arguments: ["two\nlines", "\u{1B}[31mred\u{1B}[0m", "nul\0nul", "ünï çødé 👩‍👩‍👧", "'; DROP TABLE user; --", " "])
    func anyTextIsAUserId(id: String) async throws {
        let world = try await World()
        try await world.addChain(user: id)
        #expect(try await world.users.accessToken(userId: id).name == "1")
        #expect(try await world.vault.user(id).id == id)
    }

    @Test func aTokenWithoutExpiryIsUsedUntilItIsRejected() async throws {
        let world = try await World()
        let login = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(), refreshToken: Sample.refreshToken())
        world.time.advance(by: .seconds(10_000_000))
        let token = try await world.users.accessToken(for: .login(login.id))
        #expect(world.transport.requestCount == 0)
        world.transport.enqueue(.generation("2"))
        try await world.users.reportRejected(token)
        #expect(try await world.users.accessToken(for: .login(login.id)).name == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func aReportRenewsOncePerGeneration() async throws {
        let world = try await World()
        try await world.addChain()
        let old = try await world.users.accessToken(userId: "alice")
        world.transport.enqueue(.generation("2"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await world.users.reportRejected(old) } }
            try await group.waitForAll()
        }
        #expect(world.transport.requestCount == 1)
        try await world.users.reportRejected(old)
        #expect(world.transport.requestCount == 1)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func rejectedTokenIsNotReturnedIfTheRenewalFails() async throws {
        let world = try await World()
        try await world.addChain()
        let token = try await world.users.accessToken(userId: "alice")
        world.transport.enqueue(.status(.internalServerError))
        #expect(await code { try await world.users.reportRejected(token) } == .tryLater)
        // A second report of the same token is no second reason to renew.
        #expect(await code { try await world.users.reportRejected(token) } == nil)
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        world.time.advance(by: .seconds(2))
        world.transport.enqueue(.generation("2"))
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
    }

    @Test func aTokenThatComesExpiredDoesNotMakeAStorm() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.fallback = .generation("2", expiresIn: 0)
        world.expire()
        for _ in 0..<20 {
            #expect(await code { try await world.users.accessToken(userId: "alice") } == .tryLater)
        }
        #expect(world.transport.requestCount == 1)
    }
}
