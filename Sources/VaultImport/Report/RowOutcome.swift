/// What a row of a source means under a plan. Each row has exactly one outcome.
public indirect enum RowOutcome: Sendable {
    /// A login that can be used.
    case login(PlannedLogin)
    /// Newer tokens of a login that came with an earlier row: they take the place of those.
    case update(PlannedLogin, of: Int)
    /// Older tokens of a login that came with an earlier row.
    case duplicate(SourcePlace, of: Int)
    /// A login that can neither be used nor renewed. Whether it is taken is the plan's decision.
    case dead(PlannedLogin, isKept: Bool)
    /// A client registration.
    case registration(SourceRegistration)
    /// A row that belongs to a login which comes in a row of its own.
    case part(SourcePlace, of: SourcePlace)
    /// A row that cannot be used.
    case rejected(SourceReject)

    /// Where the row stands.
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

    /// All of ``name``.
    public static let names = ["login", "update", "duplicate", "dead", "registration", "part", "rejected"]
}

/// A login with what the plan makes of it.
public struct PlannedLogin: Sendable {
    public let source: SourceLogin
    /// The provider's name in the vault.
    public let provider: String
    /// Whether the refresh token can be sent. An expired one cannot.
    public let isRenewable: Bool
    /// Those of the source, and the plan's own.
    public let warnings: [ImportWarning]
}
