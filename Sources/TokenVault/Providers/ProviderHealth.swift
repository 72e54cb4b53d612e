import Synchronization
import VaultStorage

/// The findings from each provider's replies: whether it accepts our client, how many requests it handles, its clock.
///
/// In memory: another process finds out with one request of its own, and yesterday's trouble may have passed.
final class ProviderHealth: Sendable {
    struct Entry: Sendable {
        var breaker = Breaker()
        var pace = Pace()
        /// How far its clock is ahead of ours. For `iat` of proofs and of nothing else.
        var clockOffset = Duration.zero
    }

    private let entries = Mutex<[ProviderHandle: Entry]>([:])

    subscript(_ provider: ProviderHandle) -> Entry {
        entries.withLock { $0[provider] ?? Entry() }
    }

    @discardableResult
    func change<R: Sendable>(_ provider: ProviderHandle, _ body: (inout Entry) -> R) -> R {
        entries.withLock { body(&$0[provider, default: Entry()]) }
    }
}
