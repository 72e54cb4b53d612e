import FoundationEssentials
import Synchronization
import Testing
import TokenVaultTesting
import VaultStorage

@testable import TokenVault

/// Who watches all logins: what comes of the time is found by the index, and memory does not grow with the vault.
@Suite(.timeLimit(.minutes(5)))
struct AllLoginsTests {
    @Test func tokensThatWereThereBeforeAreToldWhenTheirTimeComes() async throws {
        let world = try await World()
        try await world.addChain(user: "soon", lifetime: .seconds(900))
        try await world.addChain(user: "late", lifetime: .seconds(90_000))
        try await world.addChain(user: "past", lifetime: .seconds(10))
        world.pass(.seconds(20))
        let watcher = Watcher(world.vault)
        #expect(watcher.names() == [])
        #expect(world.vault.sessions.state.withLock { $0.book.pages.count } <= 1)
        world.pass(.seconds(900 - 180 - 20))
        #expect(watcher.names() == ["willExpire 1"])
        world.pass(.seconds(180))
        #expect(watcher.events().map(\.userID) == ["soon", "soon"])
        #expect(world.vault.sessions.state.withLock { $0.book.pages.isEmpty })
    }

    @Test func aTokenThatWasRenewedInTimeIsNotAnnounced() async throws {
        let world = try await World()
        let login = try await world.addChain(lifetime: .seconds(900))
        let watcher = Watcher(world.vault)
        world.pass(.seconds(500))
        #expect(watcher.names() == [])
        try await world.set(login)
        world.pass(.seconds(500))
        #expect(watcher.names() == ["updated 2"])
        #expect(world.vault.sessions.state.withLock { $0.book.pages.isEmpty })
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
        let watchers = scopes.map { Watcher(world.vault, $0) }
        let states = (0..<100).map { StateWatcher(world.vault, .user("user-\($0)")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for login in logins { group.addTask { try await world.set(login) } }
            try await group.waitForAll()
        }
        var told = 0
        for (scope, watcher) in zip(scopes, watchers) {
            let events = watcher.events()
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
            let names = watcher.names()
            told += names.count
            if case .all = scope { continue }
            let each = scope.isLogin ? 1 : 10
            #expect(names.count { $0 == "willExpire 2" } == each)
            #expect(names.count { $0 == "expired 2" } == each)
        }
        for watcher in states { #expect(watcher.states() == [.established, .tokenExpired(nil)]) }
        print("events: 1 000 logins, 100 subscribers and 100 of states: \(told) events, each once")
    }
}

extension FeedScope {
    fileprivate var isLogin: Bool { if case .login = self { true } else { false } }
}
