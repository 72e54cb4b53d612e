import Synchronization
import VaultStorage

/// Logins that got a new refresh token here that is not proven to work yet: the previous one is still kept for them.
/// And the latest proof of each login whose tokens came after a doubt, so that one proof is recorded once.
///
/// In memory and bounded: a predecessor forgotten here is erased with the next renewal.
final class UnprovenTokens: Sendable {
    struct Entry: Sendable {
        let login: LoginHandle
        let generation: Int64
        let since: Timestamp
    }

    static let capacity = 10_000

    private let entries = Mutex<[LoginHandle: Entry]>([:])
    private let proven = Mutex<[LoginHandle: Int64]>([:])

    func note(_ entry: Entry) {
        entries.withLock { entries in
            guard entries.count < Self.capacity || entries[entry.login] != nil else { return }
            entries[entry.login] = entry
        }
    }

    /// Whether this is the first proof of this generation here.
    func isFirstProof(of login: LoginHandle, generation: Int64) -> Bool {
        proven.withLock { proven in
            if proven.count >= Self.capacity { proven = [:] }
            return proven.updateValue(generation, forKey: login) != generation
        }
    }

    /// Removes and returns the entry of this login, if it is about this generation.
    func take(_ login: LoginHandle, generation: Int64) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries[login], entry.generation == generation else { return nil }
            entries[login] = nil
            return entry
        }
    }

    /// Removes and returns the entries from before this time.
    func takeAll(before time: Timestamp) -> [Entry] {
        entries.withLock { entries in
            guard entries.contains(where: { $0.value.since < time }) else { return [] }
            let aged = entries.values.filter { $0.since < time }
            for entry in aged { entries[entry.login] = nil }
            return aged
        }
    }
}
