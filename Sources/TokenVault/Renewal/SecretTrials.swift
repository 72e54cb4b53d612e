import Synchronization
import VaultStorage

/// Which providers' client secrets are being tried: once at a time for each.
final class SecretTrials: Sendable {
    private let providers = Mutex<Set<ProviderHandle>>([])

    /// False if they are being tried already.
    func begin(_ provider: ProviderHandle) -> Bool {
        providers.withLock { $0.insert(provider).inserted }
    }

    func end(_ provider: ProviderHandle) {
        providers.withLock { _ = $0.remove(provider) }
    }
}
