import OAuthClient
import VaultStorage

/// How a provider's grants are revoked when a login ends.
struct RevocationStyle: Sendable {
    let hasEndpoint: Bool
    /// The token whose end is the end of the grant.
    let target: ProviderProfile.RevocationRules.Target
    /// Whether it also ends the user's grants to this client from other log-ins.
    var endsOtherChains = false
    /// The attributes of a login that its requests need.
    var variables: Set<String> = []

    /// For a provider that is damaged, or that was added a moment ago. Its tokens wait in the outbox: whether they can
    /// be revoked is decided when they are sent, and no revocable token is forgotten.
    static let unknown = RevocationStyle(hasEndpoint: true, target: .refreshToken)

    private init(hasEndpoint: Bool, target: ProviderProfile.RevocationRules.Target) {
        self.hasEndpoint = hasEndpoint
        self.target = target
    }

    init(_ record: ProviderRecord) {
        hasEndpoint = record.revocationEndpoint != nil
        let profile = try? record.profile
        variables = Set(profile?.variables.map(\.name) ?? [])
        let rules = profile?.revocation
        target = rules?.target ?? .refreshToken
        endsOtherChains = rules?.endsOtherChains ?? false
    }
}
