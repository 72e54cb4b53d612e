import Synchronization
import VaultCrypto

/// The parts of manifests that this process opened or sealed last, found by their tags. A part that an open user cell
/// names by its tag was authenticated under that tag, and need not be read again. Nothing in the parts is secret.
final class ManifestPartCache: Sendable {
    private struct Place {
        let user: UserHandle
        let tag: CellTag
        let entries: [ManifestEntry]
    }

    /// A power of two. Each used place takes about 3 KB; together they hold the parts of a few users with 10 000
    /// logins.
    private static let places = 1024

    private let parts = Mutex<[Place?]>([])

    private static func index(of tag: CellTag) -> Int { Int(tag.bytes.firstWord & UInt64(places - 1)) }

    func entries(_ tag: CellTag, of user: UserHandle) -> [ManifestEntry]? {
        parts.withLock { parts in
            guard !parts.isEmpty, let place = parts[Self.index(of: tag)], place.tag == tag, place.user == user else {
                return nil
            }
            return place.entries
        }
    }

    func keep(_ entries: [ManifestEntry], _ tag: CellTag, of user: UserHandle) {
        let place = Place(user: user, tag: tag, entries: entries)
        parts.withLock { parts in
            if parts.isEmpty { parts = [Place?](repeating: nil, count: Self.places) }
            parts[Self.index(of: tag)] = place
        }
    }
}
