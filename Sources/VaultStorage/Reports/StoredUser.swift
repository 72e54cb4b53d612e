package struct StoredUser: Equatable, Sendable {
    package let handle: UserHandle
    package let id: String
    package let status: UserStatus
    package let revision: Int64
    package let createdAt: Timestamp
    /// In the order in which they were created.
    package let logins: [LoginHandle]
}

/// One user in a list. A damaged one is listed with what is wrong, and hides nothing after it.
package struct UserListing: Sendable {
    package let handle: UserHandle
    /// `nil` if the row cannot be opened.
    package let user: StoredUser?
    package let damage: StoreError?
}
