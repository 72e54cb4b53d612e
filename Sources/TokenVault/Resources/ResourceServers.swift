import FoundationEssentials
import OAuthClient
import Synchronization
import VaultStorage

/// The nonces and clocks of resource servers, in memory.
///
/// They are kept apart from those of authorization servers, even where both have one origin (RFC 9449 §9). A login has one
/// key for life, so its id stands for the key.
final class ResourceServers: Sendable {
    private struct Proving: Hashable, Sendable {
        let login: LoginID
        let origin: String
    }

    private struct State {
        var nonces = RecentTable<Proving, DPoPNonce>(capacity: 4_096)
        var clockOffsets = RecentTable<String, Duration>(capacity: 1_024)
        var rules = RecentTable<ProviderHandle, (rules: ProviderProfile.ResourceRules, readAt: Timestamp)>(
            capacity: 1_024)
    }

    private let state = Mutex(State())

    func nonce(for login: LoginID, at origin: String) -> DPoPNonce? {
        state.withLock { $0.nonces[Proving(login: login, origin: origin)] }
    }

    func clockOffset(at origin: String) -> Duration {
        state.withLock { $0.clockOffsets[origin] ?? .zero }
    }

    func learn(_ nonce: DPoPNonce, for login: LoginID, at origin: String) {
        state.withLock { $0.nonces.insert(nonce, for: Proving(login: login, origin: origin)) }
    }

    /// How a provider's APIs refuse a token. A changed profile is noticed within a minute.
    func rules(
        of provider: ProviderHandle, now: Timestamp, read: () -> ProviderProfile.ResourceRules?
    ) -> ProviderProfile.ResourceRules {
        let known = state.withLock { $0.rules[provider] }
        if let known, (Duration.zero..<Duration.seconds(60)).contains(now.since(known.readAt)) { return known.rules }
        let rules = read() ?? known?.rules ?? .init()
        state.withLock { $0.rules.insert((rules, now), for: provider) }
        return rules
    }

    /// Whether the clock is another one than was known.
    func learn(clockOffset: Duration, at origin: String) -> Bool {
        state.withLock { state in
            let known = state.clockOffsets[origin] ?? .zero
            // Half seconds come and go with the header's whole seconds.
            guard abs(known / .seconds(1) - clockOffset / .seconds(1)) >= 2 else { return false }
            state.clockOffsets.insert(clockOffset, for: origin)
            return true
        }
    }
}
