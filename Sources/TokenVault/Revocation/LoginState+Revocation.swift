import OAuthClient
import VaultCrypto
import VaultStorage

extension LoginState {
    /// Plans to revoke the refresh token, because its end is the end of the grant (RFC 7009 §2.1); the access token if
    /// there is nothing else, and where the provider wants both. An expired one ends nothing, and is not sent.
    func planRevocation(_ styles: [ProviderHandle: RevocationStyle], now: Timestamp) -> RevocationPlan {
        // Revoking it would end the user's login there.
        if session.isHeldBySource { return RevocationPlan(login: handle, records: [], outcome: .ownedBySource) }
        let style = provider.map { styles[$0] ?? .unknown }
        let target = style?.target ?? .refreshToken
        let living = session.livingAccessToken(at: now)
        let refreshToken = target == .accessToken ? nil : refresh?.refreshToken
        let accessToken = refreshToken == nil || target == .both ? living : nil
        let livesOn = grantOutlives(target, living)
        guard let provider, refreshToken != nil || accessToken != nil else {
            return RevocationPlan(
                login: handle, records: [], outcome: provider != nil && livesOn ? .unsupported : .nothingToRevoke)
        }
        guard style?.hasEndpoint == true else {
            return RevocationPlan(login: handle, records: [], outcome: .unsupported)
        }
        // One entry for each token: each is confirmed on its own.
        // The grant may live on under a token from a late reply, but not under a predecessor.
        let other = refresh?.previousRole == .predecessor ? nil : refresh?.previousRefresh
        var records: [OutboxRecord] = []
        var tokens: [(SecretBytes?, SecretBytes?)] = [(refreshToken, nil), (other, nil), (nil, accessToken)]
        if target != .refreshToken { tokens += session.resourceTokens.map { (nil, $0.accessToken) } }
        for (refresh, access) in tokens where refresh != nil || access != nil {
            records.append(
                OutboxRecord(
                    provider: provider, login: handle, user: user, refreshToken: refresh, accessToken: access,
                    dpopPrivateKey: key?.dpopPrivateKey, nonces: key?.nonces ?? [:],
                    attributes: session.attributes.filter { style?.variables.contains($0.key) == true }, createdAt: now)
            )
        }
        return RevocationPlan(login: handle, records: records, outcome: nil, livesOn: livesOn)
    }

    /// Whether the provider still accepts a token of this grant that cannot be revoked from here: the next refresh
    /// token after a lost reply, or any token where only an expired access token could have ended the grant.
    private func grantOutlives(_ target: ProviderProfile.RevocationRules.Target, _ living: SecretBytes?) -> Bool {
        if target == .accessToken { return living == nil && refresh?.refreshToken != nil }
        return session.failure?.reason == RefreshFailure.Reason.lostResponse.code
    }
}
