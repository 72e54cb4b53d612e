import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// One reply may bring the tokens of several chains, such as Slack's bot and user. Each becomes a login of its own.
    func keep(_ others: [OtherTokens], of login: Login, _ attempt: TokenAttempt, _ request: GrantRequest) async {
        for other in others {
            let issued = other.tokens
            let obtainedAt = Timestamp(attempt.startedAt)
            let expiresAt = issued.expiresIn.map { obtainedAt.advanced(by: $0) }
            var session = SessionRecord(
                state: .established, accessToken: SecretBytes(utf8: issued.accessToken.reveal()),
                tokenType: issued.tokenType.storedForm, scope: issued.scope?.description, createdAt: vault.now,
                obtainedAt: obtainedAt, expiresAt: expiresAt)
            session.label = [request.label, other.label].compactMap(\.self).joined(separator: " ")
            session.grantedScope = session.scope
            session.attributes = request.attributes
            let refresh = issued.refreshToken.map { token in
                RefreshRecord(
                    refreshToken: SecretBytes(utf8: token.reveal()),
                    refreshExpiresAt: issued.refreshExpiresIn.map { obtainedAt.advanced(by: $0) })
            }
            var draft = LoginDraft(
                userId: request.userId, provider: request.provider.handle, session: session, refresh: refresh,
                key: nil)
            draft.user = request.user
            do {
                if let known = await knownLogin(like: other, beside: login, request) {
                    _ = try await replace(known, with: draft, request)
                } else {
                    _ = try await insert(draft)
                }
            } catch {
                // The first login is stored; the user can get this one by logging in again.
                vault.logger.warning(
                    "a second login of one reply could not be stored",
                    metadata: ["vault-login-handle": "\(login.id.handle.text)"])
            }
        }
    }

    /// The login that an earlier reply brought in addition to this one, if the user logs in again and there is just
    /// one.
    private func knownLogin(like other: OtherTokens, beside login: Login, _ request: GrantRequest) async
        -> ReplacedLogin?
    {
        guard request.target != nil else { return nil }
        let listings = try? await vault.store.logins(
            ofUser: request.userId, after: nil, limit: Vault.mostLogins)
        let like = (listings ?? []).compactMap(\.login).filter {
            $0.handle != login.id.handle && $0.provider == request.provider.handle
                && $0.session.label?.hasSuffix(other.label) ?? false
        }
        guard let found = like.first, like.count == 1 else { return nil }
        return ReplacedLogin(login: found.handle, chain: found.position.chain, acceptsOtherAccount: true)
    }
}

extension GrantRequest {
    /// False where the server refuses a request with a challenge.
    var usesPKCE: Bool {
        (try? provider.record.profile.usesPKCE(publicClient: provider.record.isPublicClient)) ?? true
    }
}
