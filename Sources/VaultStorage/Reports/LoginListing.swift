/// One login in a list. A damaged one is listed with what is wrong, and hides nothing after it.
package struct LoginListing: Sendable {
    package let handle: LoginHandle
    package let userHandle: UserHandle?
    /// `nil` if the row cannot be opened.
    package let content: Content?
    package let damage: StoreError?

    package struct Content: Sendable {
        package let userId: String
        package let userStatus: UserStatus
        package let provider: ProviderHandle?
        package let position: ChainPosition
        package let revision: Int64
        package let incarnation: Int64
        package let isHeld: Bool
        package let dueAt: Timestamp?
        package let isRefreshable: Bool
        package let isDPoPBound: Bool
        package let intent: IntentRecord?
        package let session: SessionRecord
    }
}
