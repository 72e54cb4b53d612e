import OAuthClient
package import VaultStorage

extension Vault {
    /// After how long a renewal of another process counts as stalled: longer than it may take.
    package func stallLimit(of provider: ProviderHandle?) async -> Duration {
        guard let provider, let record = try? await store.provider(provider).record else {
            return ReplayPolicy().stallLimit
        }
        return ((try? ReplayPolicy(record)) ?? ReplayPolicy()).stallLimit
    }

    /// Whether this user has another login at the same provider that could be harmed. If it cannot be found out: yes.
    package func hasOtherLogins(than login: LoginHandle, of userId: String, at provider: ProviderHandle) async -> Bool {
        do throws(StoreError) {
            return try await store.logins(ofUser: userId, after: nil, limit: .max).contains { listing in
                guard listing.handle != login, let other = listing.login else { return false }
                return other.provider == provider && other.isRefreshable && other.session.isLiving
            }
        } catch {
            return true
        }
    }
}
