import EngineSupport
import FoundationEssentials
import OAuthClient
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

import TokenVault

/// What processes without a handler have found reaches the next one that has one, whoever asks for the login.
@Suite(.tags(.everyEngine))
struct UnreportedFailureTests {
    /// A vault in which these users' logins have died, found by a process that has nobody to tell.
    private func world(_ users: [String], _ error: String = "invalid_grant") async throws -> World {
        let world = try await World(provider: World.profile(#""errors":{"needsUser":["consent_required"]}"#))
        for user in users { try await world.addChain(user: user, name: user) }
        world.expire()
        for user in users {
            world.transport.enqueue(.error(error))
            #expect(await code { try await world.users.accessToken(userId: user) } != nil)
        }
        return world
    }

    @Test func aDeathIsToldByTheNextProcessThatHasAHandler() async throws {
        let world = try await world(["alice", "bob"])
        #expect(try await world.vault.store.unreportedFailures(limit: 10).count == 2)
        let handler = RecordingHandler()
        let next = try await world.anotherProcess(handler: handler)
        while handler.failed.count < 2, !Task.isCancelled { await Task.yield() }
        #expect(handler.failed.sorted() == ["alice", "bob"])
        #expect(try await world.vault.store.unreportedFailures(limit: 10).isEmpty)
        // Once.
        let third = RecordingHandler()
        let last = try await world.anotherProcess(handler: third)
        try await last.users.recover()
        await last.vault.close()
        await next.vault.close()
        #expect(third.failed.isEmpty)
        #expect(handler.failed.count == 2)
    }

    @Test func aProcessThatRunsAlreadyFindsItByItself() async throws {
        let world = try await world([])
        let handler = RecordingHandler()
        let other = try await world.anotherProcess(handler: handler)
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.error("invalid_grant"))
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .refreshFailed)
        #expect(handler.failed.isEmpty)
        try await other.users.recover()
        while handler.failed.isEmpty, !Task.isCancelled { await Task.yield() }
        #expect(handler.failed == ["alice"])
        await other.vault.close()
    }

    @Test func aNeedOfTheUserReachesTheHandlerOnce() async throws {
        let handler = RecordingHandler()
        let world = try await World(
            handler: handler, provider: World.profile(#""errors":{"needsUser":["consent_required"]}"#))
        let login = try await world.addChain()
        world.expire()
        world.transport.enqueue(.error("consent_required"), .error("consent_required"))
        for _ in 0..<3 {
            #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .needsUserInteraction)
        }
        #expect(handler.needed == ["alice"])
        #expect(handler.failed.isEmpty)
        // The next time is another one.
        try await world.users.updateAccessToken(
            for: .login(login.id), accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(10))
        world.expire()
        #expect(await code { try await world.users.accessToken(for: .login(login.id)) } == .needsUserInteraction)
        #expect(handler.needed == ["alice", "alice"])
    }

    @Test func whatHasAnOtherEndIsNotTold() async throws {
        let world = try await world(["alice", "bob", "carol"])
        try await world.users.updateAccessToken(
            userId: "alice", accessToken: Sample.accessToken("2"), expiresAt: world.now.addingTimeInterval(3_600))
        world.transport.fallback = .status(.ok)
        try await world.users.logOut(.user("bob"))
        try await world.users.eraseUser("carol")
        #expect(try await world.vault.store.unreportedFailures(limit: 10).isEmpty)
        let handler = RecordingHandler()
        let next = try await world.anotherProcess(handler: handler)
        try await next.users.recover()
        await next.vault.close()
        #expect(handler.failed.isEmpty)
        #expect(try await world.vault.store.verify().findings == [])
    }
}
