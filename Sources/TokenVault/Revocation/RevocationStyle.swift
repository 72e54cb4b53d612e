import OAuthClient
import VaultStorage

/// What a provider wants to be asked when a login ends.
struct RevocationStyle: Sendable {
    let hasEndpoint: Bool
    /// Which token's end is the end of the grant.
    let target: ProviderProfile.RevocationRules.Target
    /// Whether what the user has granted this client in other log-ins ends with it.
    var endsOtherChains = false

    /// Of a provider that is damaged, or that came a moment ago. Its tokens wait in the outbox: whether they can be
    /// revoked is decided when they are to be sent, and no token is forgotten that could be.
    static let unknown = RevocationStyle(hasEndpoint: true, target: .refreshToken)

    private init(hasEndpoint: Bool, target: ProviderProfile.RevocationRules.Target) {
        self.hasEndpoint = hasEndpoint
        self.target = target
    }

    init(_ record: ProviderRecord) {
        hasEndpoint = record.revocationEndpoint != nil
        let rules = try? record.profile.revocation
        target = rules?.target ?? .refreshToken
        endsOtherChains = rules?.endsOtherChains ?? false
    }
}
