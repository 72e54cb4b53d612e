public import FoundationEssentials

/// A user as the vault knows them.
public struct User: Sendable, Equatable {
    public internal(set) var id: String
    /// The random name of the user in the audit trail.
    package let handle: String
    public let isEnabled: Bool
    /// In the order in which they were made.
    public let logins: [LoginID]
    public let createdAt: Date
}

/// One line of a listing of users. A row that cannot be opened is listed as such.
package enum UserEntry: Sendable, Equatable {
    case user(User)
    /// The row with this random handle does not open; the sentence says what is wrong.
    case damaged(handle: String, String)
}

extension User: PublicRendering {
    var shown: ShownFields {
        [
            "id": ShownFields.name(id), "isEnabled": isEnabled, "logins": logins, "createdAt": createdAt,
        ]
    }
}
