import FoundationEssentials
import OAuthClient
import Synchronization
import VaultStorage

/// A provider's data for requests to its APIs.
struct ResourceServer: Sendable {
    /// How its APIs refuse a token; nil if its profile cannot be read.
    let rules: ProviderProfile.ResourceRules?
    /// The certificate that its tokens are bound to (RFC 8705 §3).
    let certificate: ClientCertificate?
    /// Where its tokens may be sent; empty: anywhere.
    let allowedOrigins: [APIOrigin]

    init(_ record: ProviderRecord) throws(OAuthValueError) {
        rules = try? record.profile.resource
        certificate = record.bindsTokensToCertificate ? try? record.certificate : nil
        allowedOrigins = try record.allowedOrigins
    }
}

/// The nonces and clocks of resource servers, in memory.
///
/// They are kept apart from those of authorization servers, even where both have one origin (RFC 9449 §9).
final class ResourceServers: Sendable {
    /// The owner of the key that makes the proofs. A login has one key for life, and a client one in each process, so
    /// their ids stand for the keys.
    enum Prover: Hashable, Sendable {
        case login(LoginID)
        case client(ProviderHandle)
    }

    private struct Proving: Hashable, Sendable {
        let prover: Prover
        let origin: String
    }

    struct Known: Sendable {
        let facts: ResourceServer
        let readAt: Timestamp
        /// See ``VaultStore/provider(_:changedSince:)``.
        let mark: Int64?
    }

    private struct State {
        var nonces = RecentTable<Proving, DPoPNonce>(capacity: 4_096)
        /// The nonce of a login's latest proof, if it had been given to another login.
        var lent = RecentTable<Proving, DPoPNonce>(capacity: 4_096)
        var clockOffsets = RecentTable<String, Duration>(capacity: 1_024)
        var providers = RecentTable<ProviderHandle, Known>(capacity: 1_024)
    }

    /// The nonces that all logins share for each server, and the gate for repeats to it.
    let shared: ServerNonces
    private let state = Mutex(State())

    init(_ shared: ServerNonces) {
        self.shared = shared
    }

    /// The nonce for the next proof: the newest that the server gave to any login, unless it has shown that it binds
    /// them to keys.
    func nonce(for prover: Prover, at origin: String) -> DPoPNonce? {
        let newest = shared.newest(at: origin)
        let proving = Proving(prover: prover, origin: origin)
        return state.withLock { state in
            let own = state.nonces[proving]
            guard let newest, newest != own else { return own }
            state.lent.insert(newest, for: proving)
            return newest
        }
    }

    func clockOffset(at origin: String) -> Duration {
        state.withLock { $0.clockOffsets[origin] ?? .zero }
    }

    /// - Parameters:
    ///   - sent: The nonce in the proof that was answered. Called only if it decides.
    ///   - isRefused: Whether the server wanted another one; nil: the reply does not say.
    func learn(
        _ nonce: DPoPNonce?, for prover: Prover, at origin: String, sent: () -> String?, isRefused: Bool?
    ) {
        let proving = Proving(prover: prover, origin: origin)
        let lent = state.withLock { state in
            if let nonce { state.nonces.insert(nonce, for: proving) }
            return state.lent[proving]
        }
        let isLent = lent != nil && isRefused != nil && sent() == lent?.rawValue
        shared.learn(nonce, at: origin, lent: isLent ? lent : nil, isRefused: isRefused)
    }

    /// A provider's data as it was read last.
    func facts(of provider: ProviderHandle) -> Known? { state.withLock { $0.providers[provider] } }

    func keep(_ facts: Known, of provider: ProviderHandle) {
        state.withLock { $0.providers.insert(facts, for: provider) }
    }

    /// Whether the clock differs from the known one.
    func learn(clockOffset: Duration, at origin: String) -> Bool {
        state.withLock { state in
            let known = state.clockOffsets[origin] ?? .zero
            // The header has whole seconds, so half a second comes and goes.
            guard abs(known / .seconds(1) - clockOffset / .seconds(1)) >= 2 else { return false }
            state.clockOffsets.insert(clockOffset, for: origin)
            return true
        }
    }
}
