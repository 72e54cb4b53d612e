public import FoundationEssentials
import VaultStorage

/// How the logins of a vault stand, counted one by one.
public struct VaultSurvey: Sendable, Equatable {
    /// Logins of one provider, or those that only the app can renew.
    public struct Group: Sendable, Equatable {
        /// Nil: the app's.
        public let provider: String?
        public var logins = 0
        /// By state; the keys are those of `vaultctl --json`.
        public var established = 0
        public var tokenExpired = 0
        public var terminated = 0
        /// Flagged until the app sets a new token.
        public var dead = 0
        /// The last renewal did not succeed, and another one will be tried.
        public var retrying = 0
        /// A refresh token may be spent, and no usable reply came.
        public var inDoubt = 0
        /// The provider wants the user to do something.
        public var needsUser = 0
        /// The provider has refused the last renewal, for a reason that does not pass by itself.
        public var refused = 0
        /// Held since a restore or a failover.
        public var held = 0
        /// Renewed by the system from which they were imported.
        public var heldBySource = 0
        /// Renewed by that system and by this vault.
        public var contested = 0
        /// Those of the three whose access token has expired: their users have no token.
        public var heldAndExpired = 0
        /// Those of ``refused``, ``retrying`` and ``inDoubt`` whose access token has expired.
        public var failingAndExpired = 0
        /// When tokens were last obtained.
        public var lastSuccess: Date?
        /// What was said when a renewal was last refused, and not followed by a success.
        public var lastRefusal: Login.Refusal?

        /// Whether renewals of living logins do not succeed.
        public var isFailing: Bool { retrying + inDoubt + refused > 0 }
        /// Whether the last refusal is about this client, whichever login it asks for.
        public var refusesClient: Bool { refused > 0 && lastRefusal?.answer.isAboutClient == true }
        var failing: Int { retrying + inDoubt + refused }
    }

    /// How many living logins' access tokens expire within a span of time.
    public struct Bar: Sendable, Equatable {
        /// Counted from the moment of the survey; nil: later than all others.
        public let within: Duration?
        public var logins = 0
    }

    public internal(set) var takenAt: Date
    /// Failing providers first, those with the most trouble before the others; then by name.
    public internal(set) var groups: [Group] = []
    public internal(set) var expired = 0
    public internal(set) var bars: [Bar] =
        [300, 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400].map {
            Bar(within: .seconds($0))
        } + [Bar(within: nil)]
    public internal(set) var withoutExpiry = 0
    /// Rows that cannot be opened.
    public internal(set) var damaged = 0
    /// Logins that the scheduler is to see to now.
    public internal(set) var due = 0
    /// When the first of the others is due.
    public internal(set) var nextDue: Date?

    public var logins: Int { groups.reduce(0) { $0 + $1.logins } }
}

extension Vault {
    /// Looks at every login, in bounded memory. Takes as long as there are logins: some seconds for each hundred thousand.
    ///
    /// - Parameters:
    ///   - provider: Count only the logins at this provider; nil for all.
    ///   - progress: Told how many have been looked at, of how many.
    public func survey(
        provider: String? = nil,
        progress: @escaping @Sendable (_ counted: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> VaultSurvey {
        try await survey(provider: provider, pageSize: 512, progress: progress)
    }

    /// - Parameter pageSize: How many are read at once.
    package func survey(
        provider: String?, pageSize: Int, progress: @escaping @Sendable (_ counted: Int, _ total: Int) -> Void
    ) async throws -> VaultSurvey {
        let now = now
        return try await VaultError.translating {
            let provider =
                if let provider { try await store.provider(named: provider).handle } else { nil as ProviderHandle? }
            return try await store.survey { try Self.survey($0, of: provider, pageSize, now, progress) }
        }
    }

    private static func survey(
        _ reader: Reader, of wanted: ProviderHandle?, _ pageSize: Int, _ now: Timestamp,
        _ progress: @Sendable (Int, Int) -> Void
    ) throws -> VaultSurvey {
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
                let name =
                    groups[provider] == nil ? provider.flatMap { try? reader.providers.provider($0).record.name } : nil
                groups[provider, default: VaultSurvey.Group(provider: name)].count(login, now)
                survey.count(login, now)
            }
            counted += page.logins.count
            progress(counted, max(total, counted))
            guard let last = page.last, page.logins.count == pageSize else { break }
            row = last
        }
        survey.groups = groups.values.sorted { one, other in
            let trouble = (one.failing, other.failing)
            return trouble.0 == trouble.1 ? one.provider ?? "" < other.provider ?? "" : trouble.0 > trouble.1
        }
        survey.nextDue = try reader.dueLogins(before: now, after: nil, limit: 1).nextDueAt?.date
        return survey
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
        if let dueAt = login.dueAt, dueAt <= now { due += 1 }
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
