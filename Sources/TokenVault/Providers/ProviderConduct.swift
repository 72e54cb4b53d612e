import Synchronization
import VaultStorage

/// How far each provider's clock is ahead of ours, as its replies told. For `iat` of proofs and of nothing else.
///
/// In memory: who forgets it has one proof refused and learns it again, and a clock that was wrong yesterday need not be
/// wrong today.
final class ProviderClocks: Sendable {
    private let offsets = Mutex<[ProviderHandle: Duration]>([:])

    func offset(of provider: ProviderHandle) -> Duration {
        offsets.withLock { $0[provider] } ?? .zero
    }

    /// - Parameter offset: nil if the replies did not tell.
    func learn(_ offset: Duration?, of provider: ProviderHandle) {
        guard let offset else { return }
        offsets.withLock { $0[provider] = offset }
    }
}
