import Synchronization

/// The newest DPoP nonce of each server, in memory: a nonce that one login's request learned spares the next login's
/// request a rejection (RFC 9449 §8.2). Authorization servers and resource servers have separate instances, even where
/// both share an origin (§9).
///
/// Some servers bind a nonce to the key that it was issued for. Where nonces of other logins are rejected repeatedly,
/// each login keeps its own.
package final class ServerNonces: Sendable {
    private struct Entry {
        var nonce: DPoPNonce
        /// Consecutive rejections of a nonce that another login had learned.
        var refusals = 0
    }

    /// How often one request may be repeated because the server asks for another nonce, which does not spend its token
    /// (RFC 9449 §8).
    package static let mostRepeats = 5
    private static let mostRefusals = 3

    /// Serialises retries to each server.
    package let gate: NonceGate
    private let known = Mutex(RecentTable<String, Entry>(capacity: 1_024))

    package init(gate: NonceGate) {
        self.gate = gate
    }

    /// Nil if nothing better than the login's own nonce is known.
    package func newest(at origin: String) -> DPoPNonce? {
        known.withLock { known in
            guard let entry = known[origin], entry.refusals < Self.mostRefusals else { return nil }
            return entry.nonce
        }
    }

    /// - Parameters:
    ///   - nonce: The nonce in the reply.
    ///   - lent: The nonce that was sent, if another login had learned it.
    ///   - isRefused: Whether the server asked for another one; nil if the reply does not say.
    package func learn(_ nonce: DPoPNonce?, at origin: String, lent: DPoPNonce?, isRefused: Bool?) {
        guard nonce != nil || lent != nil else { return }
        known.withLock { known in
            guard var entry = known[origin] ?? nonce.map({ Entry(nonce: $0) }) else { return }
            switch isRefused {
            // A nonce that was replaced meanwhile is rejected because of its age, which proves nothing.
            case true? where entry.nonce == lent: entry.refusals += 1
            case false? where lent != nil: entry.refusals = 0
            default: break
            }
            if let nonce { entry.nonce = nonce }
            known.insert(entry, for: origin)
        }
    }
}
