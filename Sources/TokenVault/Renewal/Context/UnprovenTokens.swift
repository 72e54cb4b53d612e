import Synchronization
import VaultStorage

/// Which logins got a new refresh token here that has not been seen to work: the one before is still kept for them.
///
/// In memory and bounded: what is forgotten here is erased with the next renewal.
final class UnprovenTokens: Sendable {
    struct Entry: Sendable {
        let login: LoginHandle
        let generation: Int64
        let since: Timestamp
    }

    static let capacity = 10_000

    private let entries = Mutex<[LoginHandle: Entry]>([:])

    func note(_ entry: Entry) {
        entries.withLock { entries in
            guard entries.count < Self.capacity || entries[entry.login] != nil else { return }
            entries[entry.login] = entry
        }
    }

    /// Takes the entry of this login out, if it is about this generation.
    func take(_ login: LoginHandle, generation: Int64) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries[login], entry.generation == generation else { return nil }
            entries[login] = nil
            return entry
        }
    }

    /// Takes those out that are from before this time.
    func takeAll(before time: Timestamp) -> [Entry] {
        entries.withLock { entries in
            guard entries.contains(where: { $0.value.since < time }) else { return [] }
            let aged = entries.values.filter { $0.since < time }
            for entry in aged { entries[entry.login] = nil }
            return aged
        }
    }
}
