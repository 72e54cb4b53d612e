import EngineSupport
import FoundationEssentials
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultStorage

@testable import TokenVault

/// A failover or a restore has taken rows of the trail away, and gives their numbers again.
@Suite(.aboutFiles("rows are put back under a process that runs"))
struct OtherTrailTests {
    /// - Parameters:
    ///   - count: rows that come afterwards: fewer than were lost, as many, and more.
    ///   - kind: of the row that says so, after a restore and on a server after a failover.
    @Test(arguments: [1, 2, 3, 8], [AuditKind.vaultRestored, .failoverSettled])
    func newRowsAreNotTakenForThoseThatWereLost(_ count: Int, _ kind: AuditKind) async throws {
        let world = try await World()
        let login = try await world.addChain()
        let watcher = await Watcher(world.vault, login)
        let intruder = try world.temporary.intruder()
        try intruder.keepRows()
        for number in 2...5 { try await world.set(login, "\(number)") }
        await #expect(watcher.names() == (2...5).map { "updated \($0)" })
        let cursor = try await world.vault.eventHead()
        try intruder.restoreRows()
        world.vault.store.context.forgetSeen()
        // By a process that knows nothing of what was lost.
        let (vault, users) = try await world.anotherProcess()
        try await vault.store.holdAllLogins(AuditEvent(kind, [.init("outcome", "lost")]))
        for number in 0..<count {
            try await users.updateAccessToken(
                for: .login(login.id), accessToken: Sample.accessToken("\(number + 10)"),
                expiresAt: world.now.addingTimeInterval(3_600))
        }
        await #expect(watcher.names() == ["missed(1)"] + (0..<count).map { "updated \($0 + 2)" })
        // The same for those who kept a place.
        let page = try await world.vault.storedEvents(after: cursor, limit: 100)
        #expect(page.events.first?.kind == .missed(count: 1))
        #expect(page.events.count == count + 1)
        await vault.close()
    }
}
