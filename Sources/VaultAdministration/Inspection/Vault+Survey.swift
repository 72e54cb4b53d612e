package import FoundationEssentials
package import TokenVault
import VaultStorage

/// The states of a vault's logins, counted one by one.
package struct VaultSurvey: Sendable, Equatable {
    /// Logins of one provider, or those that only the app can renew.
    package struct Group: Sendable, Equatable {
        /// Nil: the app's.
        package internal(set) var provider: String?
        package var logins = 0
        /// By state; the keys are those of `vaultctl --json`.
        package var established = 0
        package var tokenExpired = 0
        package var terminated = 0
        /// Flagged until the app sets a new token.
        package var dead = 0
        /// The last renewal failed, and another one will be tried.
        package var retrying = 0
        /// A refresh token may be spent, and no usable reply came.
        package var inDoubt = 0
        /// The provider requires the user to do something.
        package var needsUser = 0
        /// The provider has refused the last renewal, for a reason that does not pass by itself.
        package var refused = 0
        /// Held since a restore or a failover.
        package var held = 0
        /// Renewed by the system from which they were imported.
        package var heldBySource = 0
        /// Renewed by that system and by this vault.
        package var contested = 0
        /// Those of the three whose access token has expired: their users have no token.
        package var heldAndExpired = 0
        /// Those of ``refused``, ``retrying`` and ``inDoubt`` whose access token has expired.
        package var failingAndExpired = 0
        /// The time when tokens were last obtained.
        package var lastSuccess: Date?
        /// The last refusal of a renewal that no success has followed.
        package var lastRefusal: Login.Refusal?

        /// Whether renewals of living logins fail.
        package var isFailing: Bool { retrying + inDoubt + refused > 0 }
        /// Whether the last refusal concerns this client, regardless of the login.
        package var refusesClient: Bool { refused > 0 && lastRefusal?.answer.isAboutClient == true }
        var failing: Int { retrying + inDoubt + refused }
    }

    /// How many living logins' access tokens expire within a span of time.
    package struct Bar: Sendable, Equatable {
        /// Counted from the moment of the survey; nil: later than all others.
        package let within: Duration?
        package var logins = 0
    }

    package internal(set) var takenAt: Date
    /// Failing providers first, those with the most problems before the others; then by name.
    package internal(set) var groups: [Group] = []
    package internal(set) var expired = 0
    package internal(set) var bars: [Bar] =
        [300, 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400].map {
            Bar(within: .seconds($0))
        } + [Bar(within: nil)]
    package internal(set) var withoutExpiry = 0
    /// Rows that cannot be opened.
    package internal(set) var damaged = 0
    /// Names of the providers whose rows cannot be opened, as ``Group/provider`` has them: none of their logins can be
    /// renewed. Also those without logins.
    package internal(set) var damagedProviders: Set<String> = []
    /// Logins that are due for the scheduler now.
    package internal(set) var due = 0
    /// When the first of the others is due.
    package internal(set) var nextDue: Date?

    package var logins: Int { groups.reduce(0) { $0 + $1.logins } }
}

extension Vault {
    /// Reads every login, in bounded memory. Takes some seconds for each hundred thousand logins.
    ///
    /// - Parameters:
    ///   - provider: Count only the logins at this provider; nil for all.
    ///   - progress: Called with how many have been read, of how many.
    package func survey(
        provider: String? = nil,
        progress: @escaping @Sendable (_ counted: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VaultSurvey {
        try await survey(provider: provider, pageSize: 512, progress: progress)
    }

    /// - Parameter pageSize: How many are read at a time.
    package func survey(
        provider: String?, pageSize: Int, progress: @escaping @Sendable (_ counted: Int, _ total: Int) -> Void
    ) async throws -> VaultSurvey {
        let now = now
        return try await VaultError.translating {
            let provider =
                if let provider { try await store.provider(named: provider).handle } else { nil as ProviderHandle? }
            var (survey, groups) = try await store.survey {
                try Self.survey($0, of: provider, pageSize, now, progress)
            }
            for entry in try await providerEntries() {
                guard case .damaged(let handle, _) = entry else { continue }
                survey.damagedProviders.insert(ProviderHandle.damagedName(handle))
            }
            for provider in groups.keys.compactMap(\.self) {
                let shown = await name(of: provider)
                groups[provider]?.provider = shown
                if let shown, shown == provider.damagedName { survey.damagedProviders.insert(shown) }
            }
            survey.groups = groups.values.sorted { one, other in
                let trouble = (one.failing, other.failing)
                return trouble.0 == trouble.1 ? one.provider ?? "" < other.provider ?? "" : trouble.0 > trouble.1
            }
            return survey
        }
    }

    private static func survey(
        _ reader: Reader, of wanted: ProviderHandle?, _ pageSize: Int, _ now: Timestamp,
        _ progress: @Sendable (Int, Int) -> Void
    ) throws -> (VaultSurvey, [ProviderHandle?: VaultSurvey.Group]) {
        let total = try reader.loginCount()
        var survey = VaultSurvey(takenAt: now.date)
        var groups: [ProviderHandle?: VaultSurvey.Group] = [:]
        var (row, counted) = (nil as Int64?, 0)
        while true {
            if BlockingWork.isCancelled { throw CancellationError() }
            let page = try reader.logins(afterRow: row, limit: pageSize)
            for listing in page.logins {
                guard let login = listing.login else {
                    survey.damaged += 1
                    continue
                }
                let provider = login.provider
                guard wanted == nil || provider == wanted else { continue }
                groups[provider, default: VaultSurvey.Group()].count(login, now)
                survey.count(login, now)
            }
            counted += page.logins.count
            progress(counted, max(total, counted))
            guard let last = page.last, page.logins.count == pageSize else { break }
            row = last
        }
        return (survey, groups)
    }
}

extension VaultSurvey.Group {
    fileprivate mutating func count(_ login: StoredLogin, _ now: Timestamp) {
        let session = login.session
        logins += 1
        switch SessionState(session, now: now) {
        case .terminated: terminated += 1
        case .tokenExpired: tokenExpired += 1
        default: established += 1
        }
        if let failure = session.failure { if failure.isDead { dead += 1 } else { needsUser += 1 } }
        if session.accessToken != nil { lastSuccess = max(lastSuccess ?? .distantPast, session.obtainedAt.date) }
        guard session.failure == nil, session.state != .terminated else { return }
        if let refusal = session.lastRefusal, refusal.at.date >= lastRefusal?.date ?? .distantPast {
            lastRefusal = Login.Refusal(date: refusal.at.date, answer: ProviderAnswer(refusal))
        }
        let hasExpired = session.hasExpired(at: now)
        if let hold = login.hold {
            switch hold {
            case .restore: held += 1
            case .source: heldBySource += 1
            case .contested: contested += 1
            }
            if hasExpired { heldAndExpired += 1 }
            return
        }
        if login.intent?.isInDoubt == true {
            inDoubt += 1
        } else if login.isRefused {
            refused += 1
        } else if session.attempts > 0 {
            retrying += 1
        } else {
            return
        }
        if hasExpired { failingAndExpired += 1 }
    }
}

extension VaultSurvey {
    fileprivate mutating func count(_ login: StoredLogin, _ now: Timestamp) {
        let session = login.session
        if let dueAt = login.dueAt {
            if dueAt <= now { due += 1 } else { nextDue = min(nextDue ?? .distantFuture, dueAt.date) }
        }
        guard session.isLiving, session.accessToken != nil else { return }
        guard let expiresAt = session.expiresAt else {
            withoutExpiry += 1
            return
        }
        guard expiresAt > now else {
            expired += 1
            return
        }
        let left = expiresAt.since(now)
        guard let index = bars.firstIndex(where: { $0.within.map { left <= $0 } ?? true }) else { return }
        bars[index].logins += 1
    }
}
