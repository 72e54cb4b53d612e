import Logging
import OAuthClient
import VaultStorage

extension Vault {
    /// Logins of one user that are looked at for the limit: more than any provider allows.
    private static let mostCounted = 1_000

    /// How many refresh tokens of each of these providers the user has; only of those that have a limit.
    func tokenLimits(
        ofUser userId: String, at providers: Set<ProviderHandle>
    ) async throws(StoreError) -> [ProviderHandle: Login.TokenLimit] {
        var maxima: [ProviderHandle: Int] = [:]
        for provider in providers {
            guard let record = try? await store.provider(provider).record else { continue }
            maxima[provider] = try? record.profile.maximumTokens
        }
        guard !maxima.isEmpty else { return [:] }
        var held: [ProviderHandle: Int] = [:]
        for listing in try await store.logins(ofUser: userId, after: nil, limit: Self.mostCounted) {
            guard let login = listing.login, let provider = login.provider, login.isRefreshable else {
                continue
            }
            held[provider, default: 0] += 1
        }
        return maxima.reduce(into: [:]) { limits, entry in
            limits[entry.key] = Login.TokenLimit(maximum: entry.value, held: held[entry.key] ?? 0)
        }
    }

    /// The login with its limit. A new one is warned of once, where it is made.
    func limited(_ login: Login, at provider: ProviderHandle?, isNew: Bool = false) async -> Login {
        guard let provider, let limit = try? await tokenLimits(ofUser: login.userId, at: [provider])[provider] else {
            return login
        }
        if isNew && limit.isReached {
            logger.warning(
                "a user has as many refresh tokens as the provider allows: one more ends the oldest",
                metadata: [
                    "vault-login-handle": "\(login.id)", "vault-provider-handle": "\(provider.text)",
                    "held": "\(limit.held)", "maximum": "\(limit.maximum)",
                ])
        }
        var login = login
        login.tokenLimit = limit
        return login
    }
}
