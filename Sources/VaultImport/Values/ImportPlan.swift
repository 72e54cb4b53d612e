public import OAuthClient

/// How a source is to be read: what its names mean here.
public struct ImportPlan: Sendable {
    /// Whose store it is; nil lets the source say so.
    public var kind: StoreKind?
    /// The table with the tokens, where detection finds several that fit.
    public var table: String?
    /// Which of the source's values is the user id of the vault.
    public var userKey: UserKey
    /// The source's table of users; nil looks for one of the usual names.
    public var userTable: String?
    public var providers: ProviderMap
    /// What a time without a zone means.
    public var zonelessTimes: ZonelessTimes
    /// Whether logins that can neither be used nor renewed are taken too.
    public var keepsDeadLogins: Bool
    /// Whether a row with a member that is not known is rejected.
    public var isStrict: Bool
    /// By ``members`` of the canonical form: the source's column, for any table with tokens. `TOKEN.access_token` is a
    /// member of the JSON document in the column `TOKEN`. With such a map the source is read as canonical.
    public var columns: [String: String]
    /// The provider of every row, for a source that names none.
    public var provider: String?
    /// What names a row that has neither an account nor a key of its own.
    public var rowKey: RowKey?
    /// The columns of a CSV file that has no header, or of a table in a dump that names none.
    public var header: [String]?
    /// What separates the values of a CSV file; nil lets its first line say so.
    public var separator: Separator?
    /// Whether tokens that look encrypted are taken as they are.
    public var tokensArePlain: Bool
    public var secrets: SourceSecrets
    public var limits: ImportLimits

    public init(
        kind: StoreKind? = nil, table: String? = nil, userKey: UserKey = .primaryKey, userTable: String? = nil,
        providers: ProviderMap = ProviderMap(), zonelessTimes: ZonelessTimes = .utc, keepsDeadLogins: Bool = false,
        isStrict: Bool = false, columns: [String: String] = [:], provider: String? = nil, rowKey: RowKey? = nil,
        header: [String]? = nil, separator: Separator? = nil, tokensArePlain: Bool = false,
        secrets: SourceSecrets = SourceSecrets(), limits: ImportLimits = ImportLimits()
    ) {
        self.kind = kind
        self.table = table
        self.userKey = userKey
        self.userTable = userTable
        self.providers = providers
        self.zonelessTimes = zonelessTimes
        self.keepsDeadLogins = keepsDeadLogins
        self.isStrict = isStrict
        self.columns = columns
        self.provider = provider
        self.rowKey = rowKey
        self.header = header
        self.separator = separator
        self.tokensArePlain = tokensArePlain
        self.secrets = secrets
        self.limits = limits
    }
}

/// Which value names the user. It is taken byte by byte: nothing is folded, trimmed or guessed.
public enum UserKey: Hashable, Sendable {
    /// The source's own key of its users.
    case primaryKey
    case email
    case username
    /// A column of the tokens' table or of the users' table.
    case column(String)
}

/// What names a row at the next reading, if neither its account nor a key of its own does.
public enum RowKey: Hashable, Sendable {
    /// Its line, or its place in the table: for a source to which rows are only added.
    case line
    /// A column of the tokens' table.
    case column(String)
}

/// What separates the values of a line.
public enum Separator: String, Hashable, Sendable, CaseIterable {
    case comma
    case semicolon
    /// As `mysql --batch` and `psql` write it: `\t`, `\n` and `\\` within a value are escapes, and `NULL` and `\N` are
    /// nothing.
    case tab

    var byte: UInt8 {
        switch self {
        case .comma: UInt8(ascii: ",")
        case .semicolon: UInt8(ascii: ";")
        case .tab: 0x09
        }
    }
}

/// What a time without a zone means. No source says it.
public enum ZonelessTimes: Hashable, Sendable {
    case utc
    /// Seconds east of Greenwich.
    case offset(seconds: Int)
    /// Such a time counts as unknown.
    case unknown
}

/// Which provider of the vault each of the source's names means.
public struct ProviderMap: Sendable {
    /// By the source's names.
    public var rules: [String: Rule]
    /// Whether rows whose provider has no rule are rejected. Otherwise the source's name is the vault's.
    public var requiresRule: Bool

    public init(rules: [String: Rule] = [:], requiresRule: Bool = false) {
        self.rules = rules
        self.requiresRule = requiresRule
    }

    /// What is known of one provider.
    public struct Rule: Hashable, Sendable {
        /// The provider's name in the vault.
        public var name: String
        /// The vault's client id there: rows of another client are rejected.
        public var clientID: ClientID?
        /// Whether the client has a secret or a key: then refresh tokens are not bound to a DPoP key (RFC 9449 §5).
        public var isConfidential: Bool

        public init(name: String, clientID: ClientID? = nil, isConfidential: Bool = false) {
            self.name = name
            self.clientID = clientID
            self.isConfidential = isConfidential
        }
    }
}

/// What is read at most. Whatever is longer is rejected before it is looked into.
public struct ImportLimits: Hashable, Sendable {
    /// Of one line, record or row.
    public var recordBytes: Int
    /// Of a source that is one document.
    public var documentBytes: Int

    public init(recordBytes: Int = 1 << 20, documentBytes: Int = 256 << 20) {
        self.recordBytes = recordBytes
        self.documentBytes = documentBytes
    }
}
