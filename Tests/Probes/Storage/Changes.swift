import Foundation
import TestSupport
import VaultCrypto
import VaultSQLite
import VaultStorage

/// `storage-probe change VAULT KEY COUNTERS FIRST LOGIN…`: changes logins in random order, in bursts, until it is killed. After
/// each change that the store has acknowledged, the counter of that login has its new number of attempts; the counter of
/// the first login is FIRST.
enum Changes {
    static func perform(vault: String, key: String, counters: String, first: Int, logins: [String]) async throws {
        let logins = logins.compactMap { LoginHandle(text: $0) }
        let counters = try SharedCounters(counters, count: first + logins.count)
        let store = try SQLiteVaultStore.open(
            at: vault, unlocker: KeyFileUnlocker(path: key), clock: { Timestamp(milliseconds: 1_800_000_000_000) })
        say("ready")
        while true {
            for _ in 0..<Int.random(in: 1...20) {
                let number = Int.random(in: logins.indices)
                counters[first + number] = try await store.updateLogin(logins[number]) { state in
                    state.session.attempts += 1
                    return Int(state.session.attempts)
                }
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...4_000)))
        }
    }
}
