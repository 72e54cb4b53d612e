import FoundationEssentials
import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// The claims of the provider's id token, if it is for this log-in (OpenID Connect Core §3.1.3.7). Nil if there is
    /// none.
    func claims(
        _ issued: IssuedTokens, _ attempt: TokenAttempt, _ request: GrantRequest, _ keys: JSONWebKeySet?
    ) async throws -> IDTokenClaims? {
        guard let token = issued.idToken else {
            if request.wantsIDToken, issued.anomalies.contains(.unusableIDToken) { throw IDTokenError.unreadable }
            if request.maximumAge != nil || request.requiresIDToken { throw IDTokenError.missing }
            return nil
        }
        var check = try VaultError.translatingValues { try Self.check(request, attempt, now: vault.wallClock()) }
        check.keys = keys
        do throws(IDTokenError) {
            return try check.claims(of: token)
        } catch {
            // The key may be newer than the cached ones.
            guard error.code == .unknownKey,
                let newer = await context.keySets.newerKeys(
                    of: request.provider.record, over: context.transport, now: vault.now)
            else { throw error }
            check.keys = newer
            return try check.claims(of: token)
        }
    }

    private static func check(
        _ request: GrantRequest, _ attempt: TokenAttempt, now: Date
    ) throws -> IDTokenCheck {
        let record = request.provider.record
        let profile = try record.profile
        var check = IDTokenCheck(
            issuers: issuers(record, profile),
            clientID: try ClientID(record.clientID), nonce: request.nonce, maximumAge: request.maximumAge,
            secrets: record.clientAuthentication.hasPrefix("client_secret")
                ? record.clientSecrets.compactMap { $0.string().flatMap { try? ClientSecret($0) } } : [],
            now: now.addingTimeInterval((attempt.clockOffset ?? .zero) / .seconds(1)))
        check.algorithms = profile.client.idTokenAlgorithms
        return check
    }

    /// An issuer that names the user's organisation is accepted only where the provider was added without one: with one
    /// it would admit the users of every organisation.
    private static func issuers(_ record: ProviderRecord, _ profile: ProviderProfile) -> [String] {
        guard let issuer = record.issuer else { return profile.idTokenIssuers }
        return [issuer] + profile.idTokenIssuers.filter { !$0.contains("{") }
    }

    /// Fetched before the code is sent: its tokens must be stored without waiting for anything.
    func idTokenKeys(for request: GrantRequest) async -> JSONWebKeySet? {
        guard request.wantsIDToken else { return nil }
        let keys = await context.keySets.keys(of: request.provider.record, over: context.transport, now: vault.now)
        if keys == nil, request.provider.record.jwksURI != nil {
            // Over TLS the code flow may continue (OpenID Connect Core §3.1.3.7); but not silently.
            vault.logger.warning(
                "the provider's signing keys cannot be read: the signature of the id token is not checked",
                metadata: ["vault-provider-handle": "\(request.provider.handle.text)"])
        }
        return keys
    }
}

extension GrantRequest {
    /// Whether the log-in asked for an id token.
    var wantsIDToken: Bool {
        nonce != nil || scope.flatMap { try? Scope($0) }?.asksForIDToken == true
    }

    /// Whether a reply without an id token does not belong to this log-in (OpenID Connect Core §3.1.3.3): the code of
    /// another log-in, put into this one's callback, may bring such a reply.
    var requiresIDToken: Bool {
        guard wantsIDToken, code != nil else { return false }
        return (try? provider.record.profile.client.idTokenMayBeMissing) != true
    }
}
