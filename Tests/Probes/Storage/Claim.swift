import Foundation
import Synchronization
import VaultCrypto
import VaultSQLite
import VaultStorage

/// How often it was signalled to go on.
private let steps = Atomic<Int>(0)

/// `storage-probe claim VAULT KEY`: begins a renewal of the user `alice`, as far as the store knows of it, and waits in the
/// middle. Each signal SIGUSR1 brings it one step on; it says what it has done, and what it knows of its lock.
struct Claim {
    private let store: SQLiteVaultStore

    init(_ path: String, _ key: String) throws {
        store = try SQLiteVaultStore.open(
            at: path, unlocker: KeyFileUnlocker(path: key), clock: { Timestamp(milliseconds: 1_800_000_000_000) })
        say("owner \(store.owner)")
    }

    func run() async throws {
        signal(SIGUSR1) { _ in steps.add(1, ordering: .relaxed) }
        let login = try await store.session(.user("alice")).login
        let owner = store.owner
        let fence = try await store.updateLogin(login) { state in
            state.openIntent(owner: owner, at: Timestamp(milliseconds: 1_800_000_000_000)).fence
        }
        say("claimed \(store.ownsItsLock)")
        try await step(1)
        // What would be sent now, is sent only by who owns its lock.
        say("sent \(store.ownsItsLock)")
        try await step(2)
        let stored = try await store.login(login)
        let handle = try store.spool.add(
            SpooledReply(
                login: login, user: stored.user, provider: nil, position: stored.position, fence: fence,
                accessToken: SecretBytes(utf8: "access"), tokenType: "Bearer",
                obtainedAt: Timestamp(milliseconds: 0), refreshToken: SecretBytes(utf8: "next")))
        say("spooled")
        try await step(3)
        try await store.updateLogin(login) { state in
            state.position = state.position.successor
            state.refresh?.refreshToken = SecretBytes(utf8: "next")
            state.intent = nil
        }
        try store.spool.remove(handle)
        say("stored")
        try await step(4)
        store.close()
        say("closed")
    }

    private func step(_ number: Int) async throws {
        while steps.load(ordering: .relaxed) < number { try await Task.sleep(for: .milliseconds(1)) }
    }
}
