package struct StoredUser: Equatable, Sendable {
    package let handle: UserHandle
    package let id: String
    package let status: UserStatus
    package let revision: Int64
    package let createdAt: Timestamp
    /// The logins in the order of their creation.
    package let logins: [LoginHandle]
}

/// One user in a list. A damaged one is listed with its error and hides no later one.
package struct UserListing: Sendable {
    package let handle: UserHandle
    /// `nil` if the row cannot be opened.
    package let user: StoredUser?
    package let damage: StoreError?
}
