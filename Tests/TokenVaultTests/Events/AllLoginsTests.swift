import EngineSupport
import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Who watches all logins: what comes of the time is found by the index, and memory does not grow with the vault.
@Suite(.tags(.everyEngine))
struct AllLoginsTests {
    @Test func tokensThatWereThereBeforeAreToldWhenTheirTimeComes() async throws {
        let world = try await World()
        try await world.addChain(user: "soon", lifetime: .seconds(900))
        try await world.addChain(user: "late", lifetime: .seconds(90_000))
        try await world.addChain(user: "past", lifetime: .seconds(10))
        world.pass(.seconds(20))
        let watcher = await Watcher(world.vault)
        await #expect(watcher.names() == [])
        #expect(world.vault.sessions.state.withLock { $0.watched.count } <= 1)
        world.pass(.seconds(900 - 180 - 20))
        await #expect(watcher.names() == ["willExpire 1"])
        world.pass(.seconds(180))
        await #expect(watcher.events().map(\.userId) == ["soon", "soon"])
        #expect(world.vault.sessions.state.withLock { $0.watched.count } == 0)
    }

    @Test func aTokenThatWasRenewedInTimeIsNotAnnounced() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(900))
        let watcher = await Watcher(world.vault)
        world.pass(.seconds(500))
        await #expect(watcher.names() == [])
        try await world.set(login)
        world.pass(.seconds(500))
        await #expect(watcher.names() == ["updated 2"])
        #expect(world.vault.sessions.state.withLock { $0.watched.count } == 0)
    }

    /// Of more logins than it remembers, whoever watches all of them hears that he misses something.
    @Test func whatThereIsNoRoomForIsToldAsMissed() async throws {
        let world = try await World()
        var options = SessionEventOptions()
        options.mostUnnamedLogins = 3
        let vault = Vault(
            path: world.vault.path, store: world.vault.store, timeSource: world.time, logger: world.logs.logger,
            sessionEvents: options)
        let logins = try await world.addChains(10)
        let watcher = await Watcher(vault)
        let named = await Watcher(vault, .login(logins[9].handle))
        for (index, login) in logins.enumerated() {
            try await world.users.updateAccessToken(
                for: .login(login), accessToken: Sample.accessToken("n\(index)"),
                expiresAt: world.now.addingTimeInterval(300))
        }
        let names = await watcher.names()
        #expect(names.count { $0 == "updated 2" } == 10)
        // Nine are not watched by name, and three have room.
        #expect(names.count { $0.hasPrefix("missed") } == 6)
        #expect(vault.sessions.state.withLock { $0.watched.unnamed.count } == 3)
        await #expect(named.names() == ["updated 2"])
        world.time.advance(by: .seconds(121))
        await #expect(watcher.names().count { $0 == "willExpire 2" } >= 4)
        await #expect(named.names() == ["willExpire 2"])
        // As there is room again, the others come from the index.
        for _ in 0..<5 {
            world.time.advance(by: .seconds(60))
            await vault.sessions.catchUp()
        }
        let late = await watcher.events()
        #expect(Set(late.filter { $0.kind == .expired }.compactMap(\.login)).count >= 4)
        #expect(vault.sessions.state.withLock { $0.watched.unnamed.count } <= 3)
    }

    /// Logins that wait for a refresh token's end, months ahead, take no more than half of the room.
    @Test func whatIsDueLateLeavesRoomForWhatIsDueSoon() async throws {
        let world = try await World()
        var options = SessionEventOptions()
        options.mostUnnamedLogins = 6
        let vault = Vault(
            path: world.vault.path, store: world.vault.store, timeSource: world.time, logger: world.logs.logger,
            sessionEvents: options)
        let watcher = await Watcher(vault)
        let ends = world.vault.now.advanced(by: .seconds(90 * 86_400))
        for round in 0..<4 {
            for index in 0..<3 {
                let login = try await world.addChain(name: "\(round)-\(index)")
                try await world.vault.change(login.id.handle) { state in
                    state.refresh?.refreshExpiresAt = ends
                    state.session.expiresAt = state.session.obtainedAt.advanced(by: .seconds(300))
                }
            }
            await #expect(watcher.names().contains { $0.hasPrefix("missed") } == false, "there is room for three more")
            world.time.advance(by: .seconds(1_000))
            let names = await watcher.names()
            #expect(names.count { $0 == "expired 1" } == 3)
            #expect(names.contains { $0.hasPrefix("missed") } == (round > 0))
            #expect(vault.sessions.state.withLock { $0.watched.unnamed.count } == 3)
        }
    }

    /// Who watched a login by name takes nothing from who watches all.
    @Test func whoLeavesTakesNothingAlong() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(300))
        let watcher = await Watcher(world.vault)
        var named = Optional(await Watcher(world.vault, login))
        await #expect(named?.names() == [])
        named = nil
        world.pass(.seconds(121))
        await #expect(watcher.names() == ["willExpire 1"])
        world.pass(.seconds(180))
        await #expect(watcher.names().contains("expired 1"))
    }

    @Test func oneThousandLoginsAndOneHundredSubscribers() async throws {
        let world = try await World()
        let logins = try await withThrowingTaskGroup(of: Login.self) { group in
            for index in 0..<1_000 {
                group.addTask { try await world.addChain(user: "user-\(index / 10)", name: "\(index)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let scopes = (0..<100).map { index -> FeedScope in
            switch index % 4 {
            case 0: .all
            case 1: .login(logins[index].id.handle)
            default: .user("user-\(index)")
            }
        }
        var (watchers, states): ([Watcher], [StateWatcher]) = ([], [])
        for scope in scopes { watchers.append(await Watcher(world.vault, scope)) }
        for index in 0..<100 { states.append(await StateWatcher(world.vault, .user("user-\(index)"))) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for login in logins { group.addTask { try await world.set(login) } }
            try await group.waitForAll()
        }
        var told = 0
        for (scope, watcher) in zip(scopes, watchers) {
            let events = await watcher.events()
            let expected =
                switch scope {
                case .all: 1_000;
                case .login: 1;
                case .user: 10
                }
            #expect(events.count == expected)
            #expect(Set(events.compactMap(\.login)).count == expected)
            #expect(events.allSatisfy { $0.kind == .updated && $0.generation == 2 })
            told += events.count
        }
        world.pass(.seconds(3_600))
        for (scope, watcher) in zip(scopes, watchers) {
            let names = await watcher.names()
            told += names.count
            if case .all = scope { continue }
            let each = scope.isLogin ? 1 : 10
            #expect(names.count { $0 == "willExpire 2" } == each)
            #expect(names.count { $0 == "expired 2" } == each)
        }
        for watcher in states { await #expect(watcher.states() == [.established, .tokenExpired(nil)]) }
        print("events: 1 000 logins, 100 subscribers and 100 of states: \(told) events, each once")
    }
}

extension FeedScope {
    fileprivate var isLogin: Bool { if case .login = self { true } else { false } }
}
