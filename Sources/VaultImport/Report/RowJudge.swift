import FoundationEssentials
import OAuthClient

/// Holds rows against the plan, against the clock and against each other.
struct RowJudge {
    private let plan: ImportPlan
    private let now: Date
    private let accounts: AccountRepetition
    private var chains: ChainIndex?

    init(source: ImportSource, now: Date) {
        plan = source.plan
        self.now = now
        accounts = source.detection.accounts
    }

    mutating func fingerprint(_ token: RefreshToken) throws(ImportError) -> String {
        if chains == nil { chains = try ChainIndex() }
        return chains?.short(token.reveal()) ?? ""
    }

    mutating func outcome(of row: SourceRow) throws(ImportError) -> RowOutcome {
        switch row {
        case .registration(let registration): return .registration(registration)
        case .part(let place, let whole): return .part(place, of: whole)
        case .reject(let reject): return .rejected(reject)
        case .login(let login): return try outcome(of: login)
        }
    }

    private mutating func outcome(of login: SourceLogin) throws(ImportError) -> RowOutcome {
        let rule = plan.providers.rules[login.provider]
        if rule == nil, plan.providers.requiresRule { return .rejected(SourceReject(login.place, .unmappedProvider)) }
        if let own = rule?.clientID, let other = login.clientID, own != other {
            return .rejected(SourceReject(login.place, .otherClient))
        }
        var warnings = login.warnings
        if login.tokenType == .dpop, login.dpopKey == nil {
            guard login.refreshToken != nil, rule?.isConfidential == true else {
                return .rejected(SourceReject(login.place, .keyMissing))
            }
            warnings.append(.keyLost)
        }
        var isRenewable = login.refreshToken != nil
        if isRenewable, let end = login.refreshExpiresAt, end <= now {
            isRenewable = false
            warnings.append(.refreshTokenExpired)
        }
        let planned = PlannedLogin(
            source: login, provider: rule?.name ?? login.provider, isRenewable: isRenewable, warnings: warnings)
        if let met = try meet(login) {
            return met.isNewer ? .update(planned, of: met.row) : .duplicate(login.place, of: met.row)
        }
        let isUsable = login.accessToken != nil && login.expiresAt.map { $0 > now } ?? true
        return isUsable || isRenewable ? .login(planned) : .dead(planned, isKept: plan.keepsDeadLogins)
    }

    /// The earlier row of the same chain, or of the same account at the same client.
    private mutating func meet(_ login: SourceLogin) throws(ImportError) -> ChainIndex.Met? {
        if chains == nil { chains = try ChainIndex() }
        let moment = Int64((login.obtainedAt ?? login.expiresAt)?.timeIntervalSince1970 ?? 0)
        let row = login.place.row
        let chain = login.refreshToken.flatMap { chains?.meet("c" + $0.reveal(), row: row, moment: moment) }
        guard let account = account(login) else { return chain }
        let known = chains?.meet(account, row: row, moment: moment)
        return chain ?? known
    }

    /// Parts are separated by what stands in none of them: lengths.
    private func account(_ login: SourceLogin) -> String? {
        let mayRepeat =
            switch accounts {
            case .allowed: true
            case .withoutClient: login.clientID == nil
            case .never: false
            }
        guard mayRepeat, let subject = login.subject else { return nil }
        let parts = [login.provider, subject, login.clientID?.rawValue ?? "", login.userKey]
        return "a" + parts.map { "\($0.utf8.count):\($0)" }.joined()
    }
}
