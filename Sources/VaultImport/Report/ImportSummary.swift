/// The totals of a source's rows. The sum over all outcomes is the number of rows read.
public struct ImportSummary: Hashable, Sendable {
    /// Rows that were read.
    public private(set) var rows = 0
    /// By ``RowOutcome/name``. Names that did not occur are included with zero.
    public private(set) var outcomes: [String: Int]
    /// Rejected rows, by reason.
    public private(set) var reasons: [RejectReason: Int] = [:]
    /// Warnings, with the number of rows that have them.
    public private(set) var warnings: [ImportWarning: Int] = [:]
    /// Logins, by the vault's name of the provider, without the dead ones that are not kept.
    public private(set) var providers: [String: Int] = [:]
    /// Names of members that no description knows, at most 32.
    public internal(set) var unknownMembers: [String] = []
    /// Names of the plan's provider map that no row has, as far as rows could be read.
    public internal(set) var unusedRules: [String] = []

    init() { outcomes = Dictionary(uniqueKeysWithValues: RowOutcome.names.map { ($0, 0) }) }

    /// The number of logins that an import takes.
    public var logins: Int { providers.values.reduce(0, +) }

    mutating func add(_ outcome: RowOutcome) {
        rows += 1
        outcomes[outcome.name, default: 0] += 1
        switch outcome {
        case .login(let login): add(login, isLogin: true)
        case .dead(let login, let isKept): add(login, isLogin: isKept)
        case .update(let login, _): add(login, isLogin: false)
        case .rejected(let reject): reasons[reject.reason, default: 0] += 1
        case .duplicate, .registration, .part: break
        }
    }

    private mutating func add(_ login: PlannedLogin, isLogin: Bool) {
        for warning in login.warnings { warnings[warning, default: 0] += 1 }
        if isLogin { providers[login.provider, default: 0] += 1 }
    }
}
