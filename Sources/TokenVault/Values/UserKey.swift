/// A user id as a key: its bytes.
///
/// The vault knows users by the bytes of their ids. Swift's strings compare otherwise: `é` of one code point equals `é`
/// of two, and a user who may choose their own id could take another user's place in a table with strings for keys.
struct UserKey: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ userId: String) { bytes = Array(userId.utf8) }
}
