import OAuthClient
import VaultStorage

/// When a refresh token dies, as far as the provider or its profile tells.
struct RefreshTokenDeadline: Equatable, Sendable {
    let instant: Timestamp
    /// Whether using the token moves it, as the scheduler does in time. If not, the user has to log in again before.
    let isMovedByUse: Bool

    /// - Parameter profile: the provider's; nil if it is not known.
    /// - Returns: nil if there is no refresh token, or nobody tells.
    static func of(
        _ session: SessionRecord, _ refresh: RefreshRecord?, _ position: ChainPosition, _ profile: ProviderProfile?
    ) -> RefreshTokenDeadline? {
        guard refresh?.refreshToken != nil, session.failure?.isFinal != true, session.state != .terminated else {
            return nil
        }
        // The first chain began with the login; when a later one did is not stored.
        let absolute = position.chain == 1 ? profile?.absoluteLifetime.map { session.createdAt.advanced(by: $0) } : nil
        // What the server tells, or the profile at the last use. A server that gives a new token with each use moves it.
        let told = refresh?.refreshExpiresAt
        let isSliding = profile?.idleLifetime != nil || profile?.refresh.rotation != .never
        switch (told, absolute) {
        case (let told?, let absolute?) where told < absolute: return Self(instant: told, isMovedByUse: isSliding)
        case (_, let absolute?): return Self(instant: absolute, isMovedByUse: false)
        case (let told?, nil): return Self(instant: told, isMovedByUse: isSliding)
        case (nil, nil): return nil
        }
    }
}
