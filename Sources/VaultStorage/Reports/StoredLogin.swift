/// A login with all its data, including secrets.
package struct StoredLogin: Equatable, Sendable {
    package let handle: LoginHandle
    package let user: UserHandle
    package let userId: String
    package let userStatus: UserStatus
    package let provider: ProviderHandle?
    package let position: ChainPosition
    package let revision: Int64
    package let incarnation: Int64
    /// Whether the login is of an older incarnation than the vault: its refresh token must not be sent.
    package let isHeld: Bool
    package let dueAt: Timestamp?
    package let session: SessionRecord
    package let refresh: RefreshRecord?
    package let key: KeyRecord?
    package let intent: IntentRecord?

    package var isRefreshable: Bool { refresh?.refreshToken != nil }
    package var isDPoPBound: Bool { key != nil }
}
