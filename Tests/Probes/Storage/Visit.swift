import Foundation
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe visit VAULT KEY LOGIN HOW`: a process that changes one login once. What it does then:
///
/// - `close`: closes the vault.
/// - `kill`: dies at once.
/// - `linger`: says `ready`, and closes the vault when its input ends.
/// - `look`: changes nothing, and lingers.
enum Visit {
    static func perform(vault: String, key: String, login: String, _ how: String) async throws {
        guard let login = LoginHandle(text: login) else { exit(64) }
        let store = try SQLiteVaultStore.open(
            at: vault, unlocker: KeyFileUnlocker(path: key), clock: { Timestamp(milliseconds: 1_800_000_000_000) })
        if how == "look" {
            _ = try await store.login(login)
        } else {
            try await store.updateLogin(login) { $0.session.attempts += 1 }
        }
        switch how {
        case "close": break
        case "kill": kill(getpid(), SIGKILL)
        default:
            say("ready")
            while readLine() != nil {}
        }
        store.close()
    }
}
