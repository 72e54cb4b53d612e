import Synchronization
import VaultStorage

/// Open intents that were looked at and must wait, so that a pass of recovery does not read each of them again.
final class RestingIntents: Sendable {
    private struct Rest {
        let fence: Int64
        let until: Timestamp
    }

    private let rests = Mutex<[LoginHandle: Rest]>([:])

    func isResting(_ intent: StoredIntent, now: Timestamp) -> Bool {
        rests.withLock { rests in
            guard let rest = rests[intent.login], rest.fence == intent.record.fence else { return false }
            // No rest is longer, unless the clock has been set back since.
            return now < rest.until && rest.until <= now.advanced(by: RenewalRefusal.longestPostponement)
        }
    }

    func rest(_ intent: StoredIntent, until: Timestamp) {
        rests.withLock { $0[intent.login] = Rest(fence: intent.record.fence, until: until) }
    }

    /// Forgets all others.
    func keep(_ intents: [StoredIntent]) {
        let logins = Set(intents.map(\.login))
        rests.withLock { rests in rests = rests.filter { logins.contains($0.key) } }
    }
}
