/// The meaning of a source's row under a plan. Each row has exactly one outcome.
public indirect enum RowOutcome: Sendable {
    /// A login that can be used.
    case login(PlannedLogin)
    /// Newer tokens of a login from an earlier row, which they replace.
    case update(PlannedLogin, of: Int)
    /// Older tokens of a login from an earlier row.
    case duplicate(SourcePlace, of: Int)
    /// A login that can neither be used nor renewed. The plan decides whether it is kept.
    case dead(PlannedLogin, isKept: Bool)
    /// A client registration.
    case registration(SourceRegistration)
    /// A row that belongs to a login with its own row.
    case part(SourcePlace, of: SourcePlace)
    /// A row that cannot be used.
    case rejected(SourceReject)

    /// The position of the row.
    public var place: SourcePlace {
        switch self {
        case .login(let login), .update(let login, _), .dead(let login, _): login.source.place
        case .registration(let registration): registration.place
        case .duplicate(let place, _), .part(let place, _): place
        case .rejected(let reject): reject.place
        }
    }

    /// Stable, for reports and summaries.
    public var name: String {
        switch self {
        case .login: "login"
        case .update: "update"
        case .duplicate: "duplicate"
        case .dead: "dead"
        case .registration: "registration"
        case .part: "part"
        case .rejected: "rejected"
        }
    }

    /// All values of ``name``.
    public static let names = ["login", "update", "duplicate", "dead", "registration", "part", "rejected"]
}

/// A login, interpreted by the plan.
public struct PlannedLogin: Sendable {
    public let source: SourceLogin
    /// The provider's name in the vault.
    public let provider: String
    /// Whether the refresh token can be sent. An expired one cannot.
    public let isRenewable: Bool
    /// The source's warnings, and the plan's own.
    public let warnings: [ImportWarning]
}
