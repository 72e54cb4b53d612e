/// The result of the hot read: one login's session, authenticated, from one consistent state of the vault.
package struct SessionSnapshot: Equatable, Sendable {
    package let login: LoginHandle
    package let user: UserHandle
    package let userStatus: UserStatus
    package let provider: ProviderHandle?
    package let position: ChainPosition
    package let incarnation: Int64
    /// Whether the login is of an older incarnation than the vault: its refresh token must not be sent.
    package let isHeld: Bool
    package let isRefreshable: Bool
    package let isDPoPBound: Bool
    package let session: SessionRecord
    /// The private key to which the access token is bound, if it was asked for.
    package let key: KeyRecord?
}
