import Synchronization
import VaultStorage

/// Open intents that were checked and must wait, so that a pass of recovery does not read each of them again.
final class RestingIntents: Sendable {
    private struct Rest {
        let fence: Int64
        let until: Timestamp
    }

    private let rests = Mutex<[LoginHandle: Rest]>([:])
    /// The intent after which the next pass begins, and the resting ones that it has seen in the current round.
    private let round = Mutex<(start: Int64?, seen: Set<LoginHandle>)>((nil, []))

    /// The part of the open intents whose turn it is; after the last part the first follows again. When all have been
    /// seen, intents that are no longer open are forgotten.
    func nextPage(of store: any VaultStore, limit: Int) async -> [StoredIntent] {
        let start = round.withLock { $0.start }
        guard let page = try? await store.openIntents(after: start, limit: limit) else { return [] }
        let seen = round.withLock { round -> Set<LoginHandle>? in
            // Another pass of this process was faster.
            guard round.start == start else { return nil }
            round.start = page.next
            round.seen.formUnion(page.intents.lazy.map(\.login))
            guard page.next == nil else { return nil }
            defer { round.seen = [] }
            return round.seen
        }
        if let seen { rests.withLock { rests in rests = rests.filter { seen.contains($0.key) } } }
        return page.intents
    }

    func isResting(_ intent: StoredIntent, now: Timestamp) -> Bool {
        rests.withLock { rests in
            guard let rest = rests[intent.login], rest.fence == intent.record.fence else { return false }
            // No intent rests for longer, unless the clock has been set back since.
            return now < rest.until && rest.until <= now.advanced(by: RenewalRefusal.longestPostponement)
        }
    }

    func rest(_ intent: StoredIntent, until: Timestamp) {
        rests.withLock { $0[intent.login] = Rest(fence: intent.record.fence, until: until) }
    }
}
