import Synchronization
import VaultCrypto

/// The newest state of the vault that this process has seen. The process accepts nothing older afterwards.
///
/// For a user it remembers the last revision that the audit trail confirmed, or that this process committed. The number
/// of users is bounded: a new user may displace another, whose revision is then read from the trail again.
final class SeenStates: Sendable {
    private struct Place {
        var user = Bytes16.zero
        var revision: Int64 = 0
    }

    /// A user can take any of the places of one set: 131 072 places in all, of 24 bytes each.
    private static let placesOfSet = 4
    private static let setsOfPart = 512
    /// A power of two. A part is allocated when its first user is seen.
    private static let parts = 64

    private let users = Mutex([[Place]](repeating: [], count: parts))
    private let head = Atomic<Int64>(0)

    /// Indexes by the half that users of one transaction do not share; see ``HandleSource``.
    @inline(__always)
    private static func position(of user: UserHandle) -> (part: Int, first: Int) {
        let number = Int(truncatingIfNeeded: user.bytes.secondWord & UInt64(parts * setsOfPart - 1))
        return (number / setsOfPart, number % setsOfPart * placesOfSet)
    }

    /// The newest known revision of a user; nil if none is known.
    @inline(__always)
    func revision(of user: UserHandle) -> Int64? {
        let (part, first) = Self.position(of: user)
        return users.withLock { parts in
            guard !parts[part].isEmpty else { return nil }
            for index in first..<first + Self.placesOfSet where parts[part][index].user == user.bytes {
                return parts[part][index].revision
            }
            return nil
        }
    }

    /// Remembers a revision, unless a later one is known.
    func note(_ user: UserHandle, _ revision: Int64) {
        let (part, first) = Self.position(of: user)
        users.withLock { parts in
            if parts[part].isEmpty {
                parts[part] = [Place](repeating: Place(), count: Self.setsOfPart * Self.placesOfSet)
            }
            let set = first..<first + Self.placesOfSet
            let known = set.first { parts[part][$0].user == user.bytes }
            if let known, parts[part][known].revision > revision { return }
            // The newest moves to the front, and the oldest is dropped.
            for index in (first..<(known ?? set.upperBound - 1)).reversed() {
                parts[part][index + 1] = parts[part][index]
            }
            parts[part][first] = Place(user: user.bytes, revision: revision)
        }
    }

    /// Whether a later state of the user is known.
    func hasSeenLater(of user: UserHandle, than revision: Int64) -> Bool {
        guard let known = self.revision(of: user) else { return false }
        return known > revision
    }

    func forget() {
        users.withLock { parts in
            for index in parts.indices { parts[index] = [] }
        }
        head.store(0, ordering: .releasing)
    }

    /// The highest number of an audit row that was committed or read.
    var auditHead: Int64 { head.load(ordering: .acquiring) }

    func noteAuditHead(_ sequence: Int64) { head.max(sequence, ordering: .acquiringAndReleasing) }
}

extension StoreError {
    static func older(_ user: UserHandle, than who: String) -> StoreError {
        StoreError(
            .rollbackSuspected,
            "the user (\(user.text)) is older than \(who): a former state was put back",
            hint: "nothing was sent; restore a whole backup, or erase the user and let them log in again")
    }

    static func isOlderThanSeen(_ user: UserHandle) -> StoreError { older(user, than: "this process has seen") }

    static func isOlderThanTold(_ user: UserHandle) -> StoreError { older(user, than: "the audit trail records") }
}
