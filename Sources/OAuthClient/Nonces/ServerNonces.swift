import Synchronization

/// The newest DPoP nonce of each server, in memory: what one login's request has learned spares the next login's a refusal
/// (RFC 9449 §8.2). One of these for authorization servers and one for resource servers, even where both have one origin
/// (§9).
///
/// Some servers bind a nonce to the key that it was given to. Where nonces of others are refused again and again, each login
/// keeps to its own.
package final class ServerNonces: Sendable {
    private struct Entry {
        var nonce: DPoPNonce
        /// How often in a row a nonce of another login was refused.
        var refusals = 0
    }

    /// How often one request may be repeated because the server wants another nonce: its token is not spent by that
    /// (RFC 9449 §8).
    package static let mostRepeats = 5
    private static let mostRefusals = 3

    /// The way of repeats to each server.
    package let gate: NonceGate
    private let known = Mutex(RecentTable<String, Entry>(capacity: 1_024))

    package init(gate: NonceGate) {
        self.gate = gate
    }

    /// Nil: nothing is known that is better than the login's own.
    package func newest(at origin: String) -> DPoPNonce? {
        known.withLock { known in
            guard let entry = known[origin], entry.refusals < Self.mostRefusals else { return nil }
            return entry.nonce
        }
    }

    /// - Parameters:
    ///   - nonce: What the reply brought.
    ///   - lent: What was sent, if it had been given to another login.
    ///   - isRefused: Whether the server wanted another one; nil: the reply does not say.
    package func learn(_ nonce: DPoPNonce?, at origin: String, lent: DPoPNonce?, isRefused: Bool?) {
        guard nonce != nil || lent != nil else { return }
        known.withLock { known in
            guard var entry = known[origin] ?? nonce.map({ Entry(nonce: $0) }) else { return }
            switch isRefused {
            // A nonce that was replaced meanwhile is refused for its age, which says nothing.
            case true? where entry.nonce == lent: entry.refusals += 1
            case false? where lent != nil: entry.refusals = 0
            default: break
            }
            if let nonce { entry.nonce = nonce }
            known.insert(entry, for: origin)
        }
    }
}
