import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVault
import TokenVaultTesting

/// What is taken from Kii, in detail; its sentences are in OtherSDKs.
struct KiiTests {
    @Test func callRenewsTokenWithLessThanFiveMinutesLeft() async throws {
        let world = try await World()
        try await world.addChain()
        world.transport.enqueue(.generation("2"))
        world.time.advance(by: .seconds(3_300))
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        #expect(world.transport.requestCount == 0)
        world.time.advance(by: .seconds(1))
        #expect(world.transport.requestCount == 0)
        #expect(try await world.users.accessToken(userId: "alice").name == "2")
        #expect(world.transport.requestCount == 1)
    }

    @Test func bothTokensAreReplacedAndTheOldOnesAreNotUsedAgain() async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.enqueue(.generation("2"), .generation("3"))
        for name in ["2", "3"] {
            world.expire()
            #expect(try await world.users.accessToken(userId: "alice").name == name)
            await #expect(try world.users.validAccessToken(for: .login(login.id))?.name == name)
        }
        #expect(
            world.transport.requests.map { $0.form["refresh_token"] } == [
                Sample.marker + "refresh-1", Sample.marker + "refresh-2",
            ])
    }

    @Test func aRefreshTokenIsUsedOnceHoweverManyCall() async throws {
        let world = try await World()
        try await world.addChain()
        let other = try await world.anotherProcess()
        world.transport.enqueue(.generation("2"))
        world.expire()
        try await world.withTimePassing {
            try await withThrowingTaskGroup(of: String.self) { group in
                for users in [world.users, other.users] {
                    for _ in 0..<50 { group.addTask { try await users.accessToken(userId: "alice").name } }
                }
                for try await name in group { #expect(name == "2") }
            }
        }
        #expect(world.transport.requestCount == 1)
    }

    @Test func eachLoginHasItsOwnChain() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "a")
        let second = try await world.addChain(name: "b")
        world.transport.enqueue(.generation("a2"))
        world.expire()
        #expect(try await world.users.accessToken(for: .login(first.id)).name == "a2")
        let stored = try await world.vault.login(second.id)
        #expect(stored.generation == 1)
        #expect(stored.isRefreshable)
        world.transport.enqueue(.generation("b2"))
        #expect(try await world.users.accessToken(for: .login(second.id)).name == "b2")
        #expect(world.transport.requests.map { $0.form["refresh_token"]?.suffix(1) } == ["a", "b"])
    }

    @Test func aLoginWithoutARefreshTokenIsNotRefreshed() async throws {
        let world = try await World()
        let login = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
            expiresAt: world.now.addingTimeInterval(3_600))
        #expect(!login.isRefreshable)
        #expect(try await world.users.accessToken(userId: "alice").name == "1")
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "alice") } == .notRefreshable)
        #expect(world.transport.requestCount == 0)
    }

    @Test func aLostReplyIsToldAsSuchAndNotAsAnOrdinaryFailure() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"rotation":"always"}"#))
        let login = try await world.addChain()
        world.transport.enqueue(.failure(.maybeSent, .reset), .error("invalid_grant"))
        world.expire()
        let outcome = await world.withTimePassing { await code { try await world.users.accessToken(userId: "alice") } }
        #expect(outcome == .lostResponse)
        #expect(try await world.vault.login(login.id).failure?.reason == .lostResponse)

        let ordinary = try await world.addChain(user: "bob")
        world.transport.enqueue(.error("invalid_grant"))
        world.expire()
        #expect(await code { try await world.users.accessToken(userId: "bob") } == .refreshFailed)
        #expect(try await world.vault.login(ordinary.id).failure?.reason == .deadGrant)
    }

    @Test func disablingAUserEndsAllOfHisChains() async throws {
        let world = try await World()
        let logins = [try await world.addChain(name: "a"), try await world.addChain(name: "b")]
        try await world.addChain(user: "bob", name: "c")
        world.transport.fallback = .status(.ok)
        try await world.users.disableUser("alice")
        #expect(Set(world.transport.requests.compactMap { $0.form["token"]?.suffix(1) }) == ["a", "b"])
        for login in logins {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .userDisabled)
        }
        #expect(try await world.users.accessToken(userId: "bob").name == "c")
    }
}
