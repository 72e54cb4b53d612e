public import TokenVault

/// The result of importing one row of a source.
public struct ImportedRow: Sendable {
    public let place: SourcePlace
    public let outcome: Outcome
    /// The vault's login; nil if there is none, or if a rehearsal did not keep it.
    public let login: LoginID?
    /// The meaning of the row under the plan.
    public let row: RowOutcome

    /// Each row has exactly one outcome. Names are stable.
    public enum Outcome: Hashable, Sendable {
        /// A login that the vault did not have.
        case added
        /// The login is in the vault, and now has the row's newer tokens.
        case followed
        /// The login is in the vault, and the row has the tokens that were last taken from it. The vault may have renewed
        /// them since.
        case unchanged
        /// The source had newer tokens at an earlier reading, or in a later row; or, in a comparison, the vault has
        /// different ones.
        case older
        /// The login belongs to the vault, but the source has renewed it nevertheless.
        case renewedBySource
        /// The login is in the vault, and has ended there.
        case ended
        /// The vault does not have it, and the run adds nothing.
        case absent
        /// An older row of an earlier login.
        case duplicate
        /// A login that can neither be used nor renewed, and is left out.
        case dead
        /// A client registration.
        case registration
        /// A part of a login that has its own row.
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

        /// All values of ``name``, in the order of a report.
        public static let names = [
            "added", "followed", "unchanged", "older", "renewedBySource", "ended", "absent", "duplicate", "dead",
            "registration", "part", "rejected",
        ]
    }
}

/// The totals of an import.
public struct ImportResult: Sendable, Equatable {
    public private(set) var rows = 0
    /// By ``ImportedRow/Outcome-swift.enum/name``; the sum is ``rows``.
    public private(set) var outcomes: [String: Int]
    /// Rejected rows, by reason.
    public private(set) var reasons: [RejectReason: Int] = [:]
    /// The number of the source's logins in the vault that no longer have a row in it. Nil if the source was not read
    /// to its end, or the run only compared.
    public internal(set) var missing: Int?
    /// ``ImportedRow/Outcome-swift.enum/older`` rows whose newer tokens were in a later row of the source. They do not
    /// indicate that the source is an old copy.
    public private(set) var superseded = 0
    /// Providers that rows name but the vault lacks. Complete after the last row.
    public internal(set) var missingProviders: [MissingProvider] = []
    /// Rows that were older than the vault, by login.
    private var olderRows: [LoginID: Int] = [:]
    /// The summary of the rows before they were compared with the vault. Complete after the last row.
    public internal(set) var reading: ImportSummary?

    /// With more older rows than this, superseded rows are not counted, and the source does not count as quiet.
    private static let mostOlderRows = 100_000

    init() { outcomes = Dictionary(uniqueKeysWithValues: ImportedRow.Outcome.names.map { ($0, 0) }) }

    /// The number of rows with this outcome.
    public subscript(_ outcome: ImportedRow.Outcome) -> Int { outcomes[outcome.name] ?? 0 }

    /// Whether the source has exactly the logins and tokens that were imported before.
    public var isQuiet: Bool { changes == 0 }

    /// The number of rows that differ from the vault.
    var changes: Int { self[.added] + self[.followed] + self[.older] - superseded + (missing ?? 0) }

    mutating func add(_ row: ImportedRow) {
        rows += 1
        outcomes[row.outcome.name, default: 0] += 1
        if case .rejected(let reason) = row.outcome { reasons[reason, default: 0] += 1 }
        guard let login = row.login else { return }
        if row.outcome == .older, olderRows.count < Self.mostOlderRows { olderRows[login, default: 0] += 1 }
        // The source has the newer tokens after all, in a row after the older one.
        if case .update = row.row, row.outcome == .unchanged || row.outcome == .followed {
            superseded += olderRows.removeValue(forKey: login) ?? 0
        }
    }
}

/// Reasons that arise when a row is compared with the vault.
extension RejectReason {
    /// The row cannot be distinguished from another one of the same user and provider: it has neither a subject nor a
    /// key.
    public static let ambiguousRow = RejectReason(
        "ambiguousRow", "another row of the user at this provider has the same name, and other tokens")
    /// The vault already has the account, the row or the refresh token, from another source or row.
    public static let alreadyThere = RejectReason(
        "alreadyThere", "the vault already has this login from another source or row")
    /// The vault's user is disabled.
    public static let userDisabled = RejectReason("userDisabled", "the user is disabled in the vault")
    /// One of the user's logins in the vault cannot be opened, and may be this one.
    public static let userDamaged = RejectReason("userDamaged", "a login of the user in the vault is damaged")
    /// The vault cannot store a value of the row, such as a label of more than a thousand bytes.
    public static let notStorable = RejectReason("notStorable", "the vault cannot store a value of the row")
}
