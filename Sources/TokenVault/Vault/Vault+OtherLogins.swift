package import OAuthClient
import VaultCrypto
package import VaultStorage

extension Vault {
    /// After how long a renewal of another process counts as stalled: longer than it may take.
    package func stallLimit(of provider: ProviderHandle?) async -> Duration {
        guard let provider, let record = try? await store.provider(provider).record else {
            return ReplayPolicy().stallLimit
        }
        return ((try? ReplayPolicy(record)) ?? ReplayPolicy()).stallLimit
    }

    /// The user's living login at this provider that knows this refresh token already, as an import finds it. Two logins
    /// with one token would end each other's grant, and a spent token ends its own.
    ///
    /// - Parameters:
    ///   - token: The refresh token that is about to be stored.
    ///   - userId: The user, as the vault names them.
    ///   - name: The provider's name in the vault.
    ///   - login: The login that gets the token; nil: a new one.
    package func login(
        knowing token: RefreshToken, ofUser userId: String, at name: String, otherThan login: LoginID? = nil
    ) async throws -> (login: LoginID, hasSpentIt: Bool)? {
        do throws(StoreError) {
            let provider = try await store.provider(named: name).handle
            let logins = try await store.logins(ofUser: userId, after: nil, limit: .max).compactMap(\.login).filter {
                $0.provider == provider && $0.session.isLiving
            }
            let holders = logins.filter { $0.refresh?.has(token) == true }
            if let other = holders.first(where: { $0.handle != login?.handle }) {
                return (LoginID(other.handle), false)
            }
            guard holders.isEmpty else { return nil }
            return logins.first { $0.refresh?.hasSpent(token) == true }.map { (LoginID($0.handle), true) }
        } catch {
            if case .notFound = error.code { return nil }
            throw VaultError(error)
        }
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

extension RefreshRecord {
    /// Whether it is this token that is stored.
    func has(_ token: RefreshToken) -> Bool { refreshToken == SecretBytes(utf8: token.reveal()) }

    /// Whether it is one of those that the login has renewed last.
    func hasSpent(_ token: RefreshToken) -> Bool { hasReplaced(SecretBytes(utf8: token.reveal())) }
}
