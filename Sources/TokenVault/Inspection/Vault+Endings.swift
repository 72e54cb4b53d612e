public import FoundationEssentials
import OAuthClient
import VaultStorage

/// When a living login will be lost unless its user logs in again, and why.
public struct LoginEnding: Sendable, Equatable {
    public let login: Login
    public let date: Date
    public let cause: Cause

    public enum Cause: String, Sendable, CaseIterable {
        /// The provider has said when the refresh token ends; a renewal may bring a new one.
        case refreshTokenExpires
        /// The provider ends refresh tokens that are not used for so long. A renewal before then moves it.
        case disuse
        /// The grant ends however often it is renewed: only a new log-in helps.
        case grantExpires
    }
}

extension Vault {
    private static let endingsPage = 512

    /// Living logins that will be lost within a span of time, the first to go first: their refresh token ends, they are not
    /// used, or the grant itself ends, as far as the provider or its profile says when.
    ///
    /// Looks at every login that fits. One that is renewed regularly is lost by the end of its grant alone.
    ///
    /// - Parameters:
    ///   - span: From now on.
    ///   - filter: Which logins are looked at.
    public func endings(within span: Duration, where filter: LoginFilter = .init()) async throws -> [LoginEnding] {
        try requireOpen()
        let end = now.advanced(by: span)
        var endings: [LoginEnding] = []
        var policies: [ProviderHandle: ProviderProfile.RefreshPolicy?] = [:]
        var pages = logins(where: filter, pageSize: Self.endingsPage).makePages()
        while let page = try await pages.next() {
            for case .login(let login) in page.entries where login.isRefreshable {
                guard let stored = try? await store.login(login.id.handle), stored.isLiving else { continue }
                if let provider = stored.provider, policies[provider] == nil {
                    policies.updateValue(try? await store.provider(provider).record.profile.refresh, forKey: provider)
                }
                let policy = stored.provider.flatMap { policies[$0] ?? nil }
                guard let ending = stored.ending(policy), ending.at <= end else { continue }
                endings.append(LoginEnding(login: login, date: ending.at.date, cause: ending.cause))
            }
        }
        return endings.sorted { $0.date < $1.date }
    }
}

extension StoredLogin {
    /// The first of the ends that are known.
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
        // What a profile says is also what is stored where the provider says nothing: the rule is the cause then.
        guard let first = known.map(\.at).min() else { return nil }
        return known.first { $0.at.since(first) < Self.sameEnd }
    }

    private static let sameEnd = Duration.seconds(60)
}
