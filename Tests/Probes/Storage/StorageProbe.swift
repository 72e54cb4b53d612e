import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe VAULT KEY USER LOGINS ROUNDS`: writes to a vault and says so after each acknowledged change, until it
/// is done or killed. Tests kill it. See also ``Changes``, ``Liveness``, ``SampleVault``, ``Scale`` and ``Visit``.
@main
struct StorageProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "claim" { return try await Claim(arguments[2], arguments[3]).run() }
        if arguments.count > 3, ["fork", "fork-many", "closefrom", "read-closefrom"].contains(arguments[1]) {
            let liveness = try Liveness(arguments[2], arguments[3])
            if arguments[1] == "fork-many" { return try liveness.forkWithMany(60) }
            if arguments[1] == "fork" { return try await liveness.fork() }
            return try await liveness.closeFrom(readsFirst: arguments[1] == "read-closefrom")
        }
        if arguments.count == 6, ["backup", "restore"].contains(arguments[1]) {
            return try await BackupVictim(arguments[2], key: arguments[3], other: arguments[4], step: arguments[5])
                .die(at: arguments[1])
        }
        if arguments.count == 3, arguments[1] == "sample" { return try await SampleVault.make(in: arguments[2]) }
        if arguments.count == 6, arguments[1] == "visit" {
            return try await Visit.perform(
                vault: arguments[2], key: arguments[3], login: arguments[4], arguments[5])
        }
        if arguments.count > 6, arguments[1] == "change", let first = Int(arguments[5]) {
            return try await Changes.perform(
                vault: arguments[2], key: arguments[3], counters: arguments[4], first: first,
                logins: Array(arguments[6...]))
        }
        if arguments.count == 5, ["make", "tick", "trail"].contains(arguments[1]), let count = Int(arguments[4]) {
            return try await Scale.perform(arguments[1], vault: arguments[2], key: arguments[3], count: count)
        }
        guard arguments.count == 6, let logins = Int(arguments[4]), let rounds = Int(arguments[5]) else { exit(64) }
        let store = try SQLiteVaultStore.open(
            at: arguments[1], unlocker: KeyFileUnlocker(path: arguments[2]),
            clock: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        say("owner \(store.owner)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<logins {
                group.addTask { try await renew(store, user: "\(arguments[3])-\(number)", rounds: rounds) }
            }
            try await group.waitForAll()
        }
        store.close()
        say("done")
    }

    private static func renew(_ store: SQLiteVaultStore, user: String, rounds: Int) async throws {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let login = try await store.insertLogin(
            LoginDraft(
                userId: user, provider: nil,
                session: SessionRecord(state: .established, createdAt: now, obtainedAt: now),
                refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "1"))))
        for _ in 0..<rounds {
            let generation = try await store.updateLogin(login.handle) { state in
                state.position = state.position.successor
                state.refresh?.refreshToken = SecretBytes(utf8: "\(state.position.generation)")
                return state.position.generation
            }
            say("stored \(user) \(generation)")
        }
    }
}

/// One write call for each line, so that a kill never leaves half of one.
func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}
