public import TokenVault

/// What became of a row of a source.
public struct ImportedRow: Sendable {
    public let place: SourcePlace
    public let outcome: Outcome
    /// The login of the vault; nil: there is none, or the run was a rehearsal and it is not there.
    public let login: LoginID?
    /// What the row says under the plan.
    public let row: RowOutcome

    /// Each row has one. Names are stable.
    public enum Outcome: Hashable, Sendable {
        /// A login that the vault did not have.
        case added
        /// The login is in the vault, and has the row's newer tokens now.
        case followed
        /// The login is in the vault, with these tokens.
        case unchanged
        /// The login is in the vault, with newer tokens than the row; or, in a comparison, with others.
        case older
        /// The login is the vault's own, and the source has renewed it nevertheless.
        case renewedBySource
        /// The login is in the vault, and has ended there.
        case ended
        /// The vault does not have it, and the run adds nothing.
        case absent
        /// An older row of a login that came before.
        case duplicate
        /// A login that can neither be used nor renewed, and is left out.
        case dead
        /// A client registration.
        case registration
        /// A part of a login that has a row of its own.
        case part
        case rejected(RejectReason)

        /// Stable, for reports.
        public var name: String {
            switch self {
            case .added: "added"
            case .followed: "followed"
            case .unchanged: "unchanged"
            case .older: "older"
            case .renewedBySource: "renewedBySource"
            case .ended: "ended"
            case .absent: "absent"
            case .duplicate: "duplicate"
            case .dead: "dead"
            case .registration: "registration"
            case .part: "part"
            case .rejected: "rejected"
            }
        }

        /// All of ``name``, in the order of a report.
        public static let names = [
            "added", "followed", "unchanged", "older", "renewedBySource", "ended", "absent", "duplicate", "dead",
            "registration", "part", "rejected",
        ]
    }
}

/// What became of the rows of a source.
public struct ImportResult: Sendable, Equatable {
    public private(set) var rows = 0
    /// By ``ImportedRow/Outcome-swift.enum/name``; the sum is ``rows``.
    public private(set) var outcomes: [String: Int]
    /// Rejected rows, by reason.
    public private(set) var reasons: [RejectReason: Int] = [:]
    /// Logins of the vault that belong to the source, and of which it no longer has a row. Nil: the source was not read
    /// to its end, or only looked at.
    public internal(set) var missing: Int?
    /// Of the ``ImportedRow/Outcome-swift.enum/older`` rows: those of which a later row of the source had the newer
    /// tokens. They do not say that the source is an old copy.
    public private(set) var superseded = 0
    /// Providers that rows name and the vault does not have. Complete after the last row.
    public internal(set) var missingProviders: [MissingProvider] = []
    /// By login: rows that were older than the vault.
    private var olderRows: [LoginID: Int] = [:]
    /// What the rows were, before the vault was asked. Complete after the last row.
    public internal(set) var reading: ImportSummary?

    /// Of a source with more of them it is not said which are superseded: then it does not count as quiet.
    private static let mostOlderRows = 100_000

    init() { outcomes = Dictionary(uniqueKeysWithValues: ImportedRow.Outcome.names.map { ($0, 0) }) }

    /// How many rows ended so.
    public subscript(_ outcome: ImportedRow.Outcome) -> Int { outcomes[outcome.name] ?? 0 }

    /// Whether the source has the very logins and tokens that were taken over before.
    public var isQuiet: Bool { changes == 0 }

    /// How many rows do not say what the vault has.
    var changes: Int { self[.added] + self[.followed] + self[.older] - superseded + (missing ?? 0) }

    mutating func add(_ row: ImportedRow) {
        rows += 1
        outcomes[row.outcome.name, default: 0] += 1
        if case .rejected(let reason) = row.outcome { reasons[reason, default: 0] += 1 }
        guard let login = row.login else { return }
        if row.outcome == .older, olderRows.count < Self.mostOlderRows { olderRows[login, default: 0] += 1 }
        // The source has the newer tokens after all, in a row behind the older one.
        if case .update = row.row, row.outcome == .unchanged || row.outcome == .followed {
            superseded += olderRows.removeValue(forKey: login) ?? 0
        }
    }
}

/// What is wrong with a row when it is held against the vault.
extension RejectReason {
    /// Nothing tells the row from another one of the same user and provider: neither a subject nor a key.
    public static let ambiguousRow = RejectReason(
        "ambiguousRow", "another row of the user at this provider has the same name, and other tokens")
    /// The vault has the account, or the refresh token, from elsewhere.
    public static let alreadyThere = RejectReason("alreadyThere", "the vault has this login from elsewhere")
    /// The vault's user is disabled.
    public static let userDisabled = RejectReason("userDisabled", "the user is disabled in the vault")
    /// A login of the user in the vault cannot be opened: it may be this one.
    public static let userDamaged = RejectReason("userDamaged", "a login of the user in the vault is damaged")
    /// The vault does not take what the row holds, such as a label of more than a thousand bytes.
    public static let notStorable = RejectReason("notStorable", "the vault does not take what the row holds")
}
