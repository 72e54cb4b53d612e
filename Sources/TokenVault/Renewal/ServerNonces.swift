import OAuthClient
import Synchronization

/// The newest DPoP nonce of each authorization server, in memory: what one login's request has learned spares the next
/// login's a refusal (RFC 9449 §8.2). Apart from those of resource servers, even where both have one origin (§9).
///
/// Some servers bind a nonce to the key that it was given to. Where nonces of others are refused again and again, each login
/// keeps to its own.
final class ServerNonces: Sendable {
    private struct Entry {
        var nonce: DPoPNonce
        /// How often in a row a nonce of another login was refused.
        var refusals = 0
    }

    private static let mostRefusals = 3
    private let known = Mutex(RecentTable<String, Entry>(capacity: 1_024))

    /// Nil: nothing is known that is better than the login's own.
    func newest(at origin: String) -> DPoPNonce? {
        known.withLock { known in
            guard let entry = known[origin], entry.refusals < Self.mostRefusals else { return nil }
            return entry.nonce
        }
    }

    /// - Parameters:
    ///   - lent: The nonce of another login that was sent first, if one was.
    ///   - isRefused: Whether the server wanted another one.
    func learn(_ nonces: [String: DPoPNonce], lent: DPoPNonce?, isRefused: Bool) {
        guard !nonces.isEmpty || lent != nil else { return }
        known.withLock { known in
            for (origin, nonce) in nonces {
                var entry = known[origin] ?? Entry(nonce: nonce)
                // A nonce that was replaced meanwhile is refused for its age, which says nothing.
                if let lent, entry.nonce == lent { entry.refusals = isRefused ? entry.refusals + 1 : 0 }
                entry.nonce = nonce
                known.insert(entry, for: origin)
            }
        }
    }
}
