import FoundationEssentials
import OAuthClient

/// Compares rows with the plan, with the clock and with each other.
struct RowClassifier {
    /// An additional check that a row must pass before it is compared with others; nil for none. For example, a row of
    /// another client must not replace the right one.
    typealias Screen = (PlannedLogin) async throws -> RejectReason?

    private let plan: ImportPlan
    private let now: Date
    private let accounts: AccountRepetition
    private let screen: Screen?
    private var chains: ChainIndex?
    /// Names of the provider map that no row has had so far.
    private(set) var unusedRules: Set<String>

    init(source: ImportSource, now: Date, screen: Screen? = nil) {
        plan = source.plan
        self.now = now
        self.screen = screen
        accounts = source.detection.accounts
        unusedRules = Set(source.plan.providers.rules.keys)
    }

    mutating func fingerprint(_ token: RefreshToken) throws(ImportError) -> String {
        if chains == nil { chains = try ChainIndex() }
        return chains?.short(token.reveal()) ?? ""
    }

    mutating func outcome(of row: SourceRow) async throws -> RowOutcome {
        switch row {
        case .registration(let registration): return .registration(registration)
        case .part(let place, let whole): return .part(place, of: whole)
        case .reject(let reject): return .rejected(reject)
        case .login(let login): return try await outcome(of: login)
        }
    }

    private mutating func outcome(of login: SourceLogin) async throws -> RowOutcome {
        let rule = plan.providers.rules[login.provider]
        if rule != nil { unusedRules.remove(login.provider) }
        if rule == nil, plan.providers.requiresRule { return .rejected(SourceReject(login.place, .unmappedProvider)) }
        if let own = rule?.clientID, let other = login.clientID, own != other {
            return .rejected(SourceReject(login.place, .otherClient))
        }
        let planned: PlannedLogin
        switch self.planned(login, rule) {
        case .success(let login): planned = login
        case .failure(let reject): return .rejected(SourceReject(login.place, reject.reason))
        }
        if let reason = try await screen?(planned) { return .rejected(SourceReject(login.place, reason)) }
        let isUsable = login.accessToken != nil && login.expiresAt.map { $0 > now } ?? true
        let isDead = !isUsable && !planned.isRenewable
        // An omitted row replaces no other row.
        if isDead, !plan.keepsDeadLogins { return .dead(planned, isKept: false) }
        guard let met = try meet(login) else { return isDead ? .dead(planned, isKept: true) : .login(planned) }
        if !met.isSameOwner { return .rejected(SourceReject(login.place, .duplicateChain)) }
        if met.isRepeat || !met.isNewer { return .duplicate(login.place, of: met.row) }
        return isDead ? .dead(planned, isKept: false) : .update(planned, of: met.row)
    }

    private struct Refusal: Error { let reason: RejectReason }

    private func planned(_ login: SourceLogin, _ rule: ProviderMap.Rule?) -> Result<PlannedLogin, Refusal> {
        var warnings = login.warnings
        if login.tokenType == .dpop, login.dpopKey == nil {
            guard login.refreshToken != nil, rule?.isConfidential == true else {
                return .failure(Refusal(reason: .keyMissing))
            }
            warnings.append(.keyLost)
        }
        var isRenewable = login.refreshToken != nil
        if isRenewable, let end = login.refreshExpiresAt, end <= now {
            isRenewable = false
            warnings.append(.refreshTokenExpired)
        }
        // A vault stores it only together with a refresh token.
        if !isRenewable, login.idToken != nil, !warnings.contains(.idTokenDropped) { warnings.append(.idTokenDropped) }
        return .success(
            PlannedLogin(
                source: login, provider: rule?.name ?? login.provider, isRenewable: isRenewable, warnings: warnings))
    }

    /// The earlier row of the same chain, or of the same account at the same client.
    private mutating func meet(_ login: SourceLogin) throws(ImportError) -> ChainIndex.Met? {
        if chains == nil { chains = try ChainIndex() }
        let owner = [login.provider, login.userKey, login.ownSubject]
        let visit = ChainIndex.Visit(
            row: login.place.row, moment: login.obtainedAt, owner: owner,
            tokens: [
                login.accessToken?.reveal(), login.refreshToken?.reveal(),
                login.expiresAt.map { "\($0.timeIntervalSince1970)" },
            ])
        let (chainName, accountName) = (chainName(login), accountName(login))
        let chain = chains?.meet(chainName, visit)
        guard chain?.isSameOwner != false, let account = accountName else { return chain }
        let known = chains?.meet(account, visit)
        return chain ?? known
    }

    /// Without a refresh token, only a row with identical values is the same login.
    private func chainName(_ login: SourceLogin) -> String {
        if let token = login.refreshToken { return "c" + token.reveal() }
        return "t"
            + Self.joined([
                login.provider, login.userKey, login.subject, login.clientID?.rawValue, login.place.key, login.label,
                login.accessToken?.reveal(),
            ])
    }

    private func accountName(_ login: SourceLogin) -> String? {
        let mayRepeat =
            switch accounts {
            case .allowed: true
            case .withoutClient: login.clientID == nil
            case .never: false
            }
        guard mayRepeat, let subject = login.subject else { return nil }
        return "a" + Self.joined([login.provider, subject, login.clientID?.rawValue, login.userKey])
    }

    /// Parts are separated by their lengths, which no content can imitate.
    private static func joined(_ parts: [String?]) -> String {
        parts.map { part in part.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined()
    }
}
