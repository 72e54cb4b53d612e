import Foundation
import Testing
import VaultCrypto
import VaultSQLite

@testable import VaultStorage

/// Logins that are sealed before their transaction begins.
struct DraftedLoginTests {
    @Test func aUserWhoIsThereKeepsTheirKey() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        let first = try await store.insertLogin(SampleVault.draft(user: "alice", number: 0, provider: nil))
        // Twice a user whom the vault has, and twice one whom it does not have.
        let drafts = ["alice", "alice", "bob", "bob"].enumerated().map { number, user in
            SampleVault.draft(user: user, number: number + 1, provider: nil)
        }
        let logins = zip(drafts, store.seal(drafts)).map { (userId: $0.userId, drafted: Optional($1)) }
        let answers = try await store.takeImported(logins, isRehearsal: false) { _, _ in nil }
        for (number, answer) in answers.enumerated() {
            guard case .added(let handle) = answer else {
                Issue.record("\(answer)")
                continue
            }
            let login = try await store.login(handle)
            #expect(login.userId == drafts[number].userId)
            #expect(login.session.accessToken == drafts[number].session.accessToken)
            #expect(login.refresh == drafts[number].refresh)
            #expect(login.key == drafts[number].key)
            #expect(login.dueAt == drafts[number].dueAt)
        }
        #expect(try await store.user("alice").logins.count == 3)
        #expect(try await store.user("bob").logins.count == 2)
        #expect(try await store.login(first.handle).userId == "alice")
        #expect(try await store.verify().isClean)
        store.close()
    }

    /// Held is what the vault had at that moment.
    @Test func whatIsAddedAfterAllLoginsWereHeldIsNotHeld() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        let draft = SampleVault.draft(user: "alice", number: 0, provider: nil)
        let drafted = store.seal([draft])
        try await store.holdAllLogins(AuditEvent(.witnessReplaced))
        let answers = try await store.takeImported(
            [("alice", drafted.first)], isRehearsal: false
        ) { _, _ in nil }
        guard case .added(let handle)? = answers.first else {
            Issue.record("\(answers)")
            return
        }
        #expect(try await !store.login(handle).isHeld)
        #expect(try await store.verify().isClean)
        store.close()
    }

    @Test func aProviderThatIsGoneIsMissed() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        let drafted = store.seal([SampleVault.draft(user: "alice", number: 0, provider: .random())])
        await #expect(throws: StoreError.self) {
            _ = try await store.takeImported([("alice", drafted.first)], isRehearsal: false) { _, _ in nil }
        }
        #expect(try await store.statistics().users == 0)
        store.close()
    }
}
