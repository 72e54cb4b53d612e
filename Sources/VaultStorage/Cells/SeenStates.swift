import Synchronization
import VaultCrypto

/// What this process has seen of the vault: nothing that it meets later may be older.
///
/// Of users it remembers as many as there are places. A user that takes another's place makes the other forgotten.
final class SeenStates: Sendable {
    private struct Place {
        var user = Bytes16.zero
        var revision: Int64 = 0
    }

    /// A power of two; 24 bytes each.
    private static let places = 8192

    private let users = Mutex([Place](repeating: Place(), count: places))
    private let head = Atomic<Int64>(0)

    /// By the half that users of one transaction do not share; see ``HandleSource``.
    private static func index(of user: UserHandle) -> Int { Int(user.bytes.secondWord & UInt64(places - 1)) }

    /// Whether a newer state of the user was seen before. If not, this one is remembered.
    @inline(__always)
    func isOlder(_ user: UserHandle, _ revision: Int64) -> Bool {
        users.withLock { places in
            let index = Self.index(of: user)
            let place = places[index]
            if place.user == user.bytes {
                if place.revision > revision { return true }
                if place.revision == revision { return false }
            }
            places[index] = Place(user: user.bytes, revision: revision)
            return false
        }
    }

    /// The newest known revision of a user; nil if none is known.
    func revision(of user: UserHandle) -> Int64? {
        users.withLock { places in
            let place = places[Self.index(of: user)]
            return place.user == user.bytes ? place.revision : nil
        }
    }

    /// The same without remembering: inside a transaction, which may come to nothing.
    func hasSeenLater(of user: UserHandle, than revision: Int64) -> Bool {
        users.withLock { places in
            let place = places[Self.index(of: user)]
            return place.user == user.bytes && place.revision > revision
        }
    }

    func forget() {
        users.withLock { places in
            for index in places.indices { places[index] = Place() }
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
}
