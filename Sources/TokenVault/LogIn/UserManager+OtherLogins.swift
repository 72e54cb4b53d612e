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
            let refresh = issued.refreshToken.map { token in
                RefreshRecord(
                    refreshToken: SecretBytes(utf8: token.reveal()),
                    refreshExpiresAt: issued.refreshExpiresIn.map { obtainedAt.advanced(by: $0) })
            }
            do {
                _ = try await insert(
                    LoginDraft(
                        userId: request.userId, provider: request.provider.handle, session: session, refresh: refresh,
                        key: nil))
            } catch {
                // The first login stands; this one can be had again by another log-in.
                vault.logger.warning(
                    "a second login of one reply could not be stored",
                    metadata: ["vault-login-handle": "\(login.id.handle.text)"])
            }
        }
    }
}

extension GrantRequest {
    /// False where the server refuses a request with a challenge.
    var usesPKCE: Bool { (try? provider.record.profile.client.pkce) ?? true }
}
