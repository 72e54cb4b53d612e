package import FoundationEssentials
import OAuthClient
package import TokenVault
import VaultStorage

/// When a living login will be lost unless its user logs in again, and why.
package struct LoginEnding: Sendable, Equatable {
    package let login: Login
    package let date: Date
    package let cause: Cause

    package enum Cause: String, Sendable, CaseIterable {
        /// The provider has announced the end of the refresh token; a renewal may bring a new one.
        case refreshTokenExpires
        /// The provider ends refresh tokens that stay unused for some time. A renewal before then postpones it.
        case disuse
        /// The grant ends however often it is renewed: only a new log-in helps.
        case grantExpires
        /// The access token ends, and there is no refresh token: only the app or a new log-in brings another one.
        case notRenewable
        /// The access token ends, and the provider has refused to renew it.
        case refused
        /// The access token ends, and nothing is sent until an operator accepts the restore or the import.
        case held
        /// The access token ends, and an operator must first decide which system renews the login.
        case contested
    }
}

extension Vault {
    private static let endingsPage = 512

    /// Living logins that will be lost within a span of time, the first to go first: their refresh token ends, they are
    /// not used, or the grant itself ends, as far as the provider or its profile specifies that; or their access token
    /// ends, or has ended, and under the present conditions it will not be renewed.
    ///
    /// Reads every matching login. One that is renewed regularly is lost only when its grant ends.
    ///
    /// - Parameters:
    ///   - span: From now on.
    ///   - filter: Which logins are read.
    package func endings(within span: Duration, where filter: LoginFilter = .init()) async throws -> [LoginEnding] {
        try requireOpen()
        let end = now.advanced(by: span)
        var endings: [LoginEnding] = []
        var policies: [ProviderHandle: ProviderProfile.RefreshPolicy?] = [:]
        var pages = filtered(filter, pageSize: Self.endingsPage).makePages()
        while let page = try await pages.next() {
            for case .login(let login) in page.entries {
                guard let stored = try? await store.login(login.id.handle), stored.isLiving else { continue }
                if let provider = stored.provider, policies[provider] == nil {
                    policies.updateValue(try? await store.provider(provider).record.profile.refresh, forKey: provider)
                }
                let policy = stored.provider.flatMap { policies[$0] ?? nil }
                guard let ending = stored.stop ?? stored.ending(policy), ending.at <= end else { continue }
                endings.append(LoginEnding(login: login, date: ending.at.date, cause: ending.cause))
            }
        }
        return endings.sorted { $0.date < $1.date }
    }
}

extension StoredLogin {
    /// When the access token ends, if it will not be renewed under the present conditions.
    fileprivate var stop: (at: Timestamp, cause: LoginEnding.Cause)? {
        let cause: LoginEnding.Cause
        switch hold {
        case .contested: cause = .contested
        case .restore, .source: cause = .held
        case nil where refresh?.refreshToken == nil: cause = .notRenewable
        case nil where isRefused: cause = .refused
        case nil: return nil
        }
        return session.expiresAt.map { ($0, cause) }
    }

    /// The first of the known ends.
    fileprivate func ending(
        _ policy: ProviderProfile.RefreshPolicy?
    ) -> (at: Timestamp, cause: LoginEnding.Cause)? {
        guard let refresh, refresh.refreshToken != nil else { return nil }
        let lastUse = session.resourceTokens.map(\.obtainedAt).reduce(session.obtainedAt, max)
        let grantedAt = session.grantedAt ?? (position.chain == 1 ? session.createdAt : nil)
        let ends: [(Timestamp?, LoginEnding.Cause)] = [
            (grantedAt.flatMap { start in policy?.absoluteLifetime.map { start.advanced(by: $0) } }, .grantExpires),
            (policy?.idleLifetime.map { lastUse.advanced(by: $0) }, .disuse),
            (refresh.refreshExpiresAt, .refreshTokenExpires),
        ]
        let known = ends.compactMap { end, cause in end.map { (at: $0, cause: cause) } }
        // Where the provider specifies nothing, the profile's rule is also the stored value: then the rule is the
        // cause.
        guard let first = known.map(\.at).min() else { return nil }
        return known.first { $0.at.since(first) < Self.sameEnd }
    }

    private static let sameEnd = Duration.seconds(60)
}
