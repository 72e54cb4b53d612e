import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Every event, what it carries and in what order.
struct SessionEventTests {
    @Test func aRenewalIsTold() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.transport.enqueue(.generation("2"))
        _ = try await world.users.accessToken(for: .login(login.id), .renewed)
        let events = await watcher.events()
        #expect(events.map(\.kind) == [.updated])
        #expect(events.first?.generation == 2)
        #expect(events.first?.login == login.id)
        #expect(events.first?.userId == "alice")
    }

    @Test func aDeathIsToldWithItsReason() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        try await world.kill(login)
        let events = await watcher.events()
        let failure = try #require(try await world.vault.login(login.id).failure)
        #expect(failure.reason == .deadGrant)
        #expect(events.map(\.kind) == [.refreshFailed(failure), .stateChanged(.tokenExpired(failure))])
        // The access token is good for a while, and its end is told.
        world.expire()
        await #expect(watcher.names() == ["willExpire 1", "expired 1"])
        try await world.set(login)
        await #expect(watcher.names() == ["updated 2", "recovered 2", "established 2"])
    }

    @Test func aNarrowerScopeIsTold() async throws {
        let world = try await World()
        let login = try await world.users.addLogin(
            userId: "alice", provider: "acme", accessToken: Sample.accessToken(),
            expiresAt: world.now.addingTimeInterval(3_600), refreshToken: Sample.refreshToken(),
            scope: try Scope("read write"))
        let watcher = await Watcher(world.vault, login)
        for (scope, isNarrower) in [("read", true), ("read admin", false)] {
            world.transport.enqueue(
                .tokens(accessToken: "a-\(scope.count)", refreshToken: "r-\(scope.count)", scope: scope))
            _ = try await world.users.accessToken(for: .login(login.id), .renewed)
            await #expect(watcher.events().map(\.kind) == [.updated, .scopeChanged(isNarrower: isNarrower)])
        }
    }

    @Test func aTokenForAnotherResourceIsNoNewTokenOfTheLogin() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.transport.enqueue(.generation("resource"))
        _ = try await world.users.accessToken(for: .login(login.id), TokenRequest(resource: "https://api.example/"))
        await #expect(watcher.names() == [])
    }

    @Test func theEndOfARefreshTokenIsToldWeeksAhead() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let day = Duration.seconds(86_400)
        let ends = world.vault.now.advanced(by: day * 90)
        try await world.vault.change(login.id.handle) { $0.refresh?.refreshExpiresAt = ends }
        let watcher = await Watcher(world.vault, login)
        world.pass(day * 76 - .seconds(1))
        await #expect(watcher.names() == ["willExpire 1", "expired 1", "tokenExpired 1"])
        world.pass(.seconds(1))
        await #expect(watcher.events().map(\.kind) == [.refreshTokenWillExpire(at: ends.date)])
        world.pass(day)
        await #expect(watcher.names() == [])
        // Who comes now is told at once.
        await #expect(Watcher(world.vault, login).names() == ["willExpire 1", "expired 1", "refreshTokenWillExpire 1"])
    }

    @Test func theEndOfAGrantComesFromTheProvidersProfile() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"absoluteSeconds":8640000}"#))
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.pass(.seconds(86 * 86_400))
        await #expect(
            watcher.events().last?.kind
                == .refreshTokenWillExpire(at: login.createdAt.addingTimeInterval(8_640_000)))
    }

    @Test func aLaterGrantDoesNotEndWithTheFirst() async throws {
        let world = try await World(provider: World.provider(refresh: #"{"absoluteSeconds":8640000}"#))
        let login = try await world.addChain()
        world.pass(.seconds(50 * 86_400))
        _ = try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("later"), expiresAt: nil,
            refreshToken: Sample.refreshToken("later"))
        let watcher = await Watcher(world.vault, login)
        world.pass(.seconds(36 * 86_400))
        await #expect(!watcher.names().contains { $0.hasPrefix("refreshTokenWillExpire") })
    }

    @Test func whatOnlyPeopleCanMendIsAnError() async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        world.transport.enqueue(.error("interaction_required"))
        _ = try? await world.users.accessToken(for: .login(login.id), .renewed)
        await #expect(watcher.names() == ["error(needsUserInteraction) 1"])
    }

    @Test(arguments: ["logOut", "remove", "disable", "erase"])
    func anEndIsAChangeOfState(kind: String) async throws {
        let world = try await World()
        let login = try await world.addChain()
        world.transport.fallback = .status(.ok)
        let watchers = [
            await Watcher(world.vault, login), await Watcher(world.vault, .user("alice")), await Watcher(world.vault),
        ]
        let state: SessionState
        switch kind {
        case "logOut":
            try await world.users.logOut(.login(login.id))
            state = .notLoggedIn
        case "remove":
            try await world.users.logOut(.login(login.id), revokes: false)
            state = .notLoggedIn
        case "disable":
            try await world.users.disableUser("alice")
            state = .terminated(.userDisabled)
        default:
            try await world.users.eraseUser("alice")
            state = .terminated(.userDeleted)
        }
        for watcher in watchers {
            await #expect(watcher.events().map(\.kind) == [.stateChanged(state)])
        }
        // What had been armed is not told of a login that is over.
        world.expire()
        for watcher in watchers { await #expect(watcher.names() == []) }
    }

    @Test func aNewLoginIsToldToWhoWaitsForItsUser() async throws {
        let world = try await World()
        let watchers = [await Watcher(world.vault, .user("alice")), await Watcher(world.vault)]
        let stranger = await Watcher(world.vault, .user("bob"))
        let login = try await world.addChain(lifetime: .seconds(300))
        for watcher in watchers {
            let events = await watcher.events()
            #expect(events.map(\.kind) == [.stateChanged(.established)])
            #expect(events.first?.login == login.id)
        }
        world.pass(.seconds(120))
        for watcher in watchers { await #expect(watcher.names() == ["willExpire 1"]) }
        await #expect(stranger.names() == [])
    }

    @Test func aUserWhoComesBackAfterErasureIsWatchedAgain() async throws {
        let world = try await World()
        world.transport.fallback = .status(.ok)
        try await world.addChain()
        let watcher = await Watcher(world.vault, .user("alice"))
        try await world.users.eraseUser("alice")
        let second = try await world.addChain(name: "2")
        try await world.set(second)
        await #expect(watcher.names() == ["terminated(userDeleted) 1", "established 1", "updated 2"])
    }

    /// Kii: each login has its own chain.
    @Test func refreshingOneLoginLeavesTheOthersAlone() async throws {
        let world = try await World()
        let first = try await world.addChain(name: "a")
        let second = try await world.addChain(name: "b")
        let watcher = await Watcher(world.vault, second)
        world.transport.enqueue(.generation("a2"))
        _ = try await world.users.accessToken(for: .login(first.id), .renewed)
        try await world.kill(first)
        await #expect(watcher.names() == [])
        await #expect(try world.users.sessionState(of: .login(second.id)) == .established)
        await #expect(try world.users.sessionState(of: .user("alice")) == .established)
    }

    @Test func theOrderOfOneLoginIsThatOfItsGenerations() async throws {
        let world = try await World()
        let logins = try await [world.addChain(name: "a"), world.addChain(name: "b"), world.addChain(name: "c")]
        let watcher = await Watcher(world.vault)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for login in logins {
                for round in 0..<20 { group.addTask { try await world.set(login, "\(round)") } }
            }
            try await group.waitForAll()
        }
        let events = await watcher.events()
        for login in logins {
            #expect(events.filter { $0.login == login.id }.compactMap(\.generation) == Array(2...21))
        }
    }
}
