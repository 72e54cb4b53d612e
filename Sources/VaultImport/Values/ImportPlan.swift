public import OAuthClient

/// How to read a source: the meaning of its names.
public struct ImportPlan: Sendable {
    /// The product that wrote the store; nil to detect it.
    public var kind: StoreKind?
    /// The table with the tokens, if detection finds several candidates.
    public var table: String?
    /// The source's value that becomes the vault's user id.
    public var userKey: UserKey
    /// The source's table of users; nil to look for one of the usual names.
    public var userTable: String?
    public var providers: ProviderMap
    /// The zone of times without one.
    public var zonelessTimes: ZonelessTimes
    /// Whether logins that can neither be used nor renewed are also imported.
    public var keepsDeadLogins: Bool
    /// Whether a row with an unknown member is rejected.
    public var isStrict: Bool
    /// The source's columns by ``members`` of the canonical form, for any table with tokens. `TOKEN.access_token` is a
    /// member of the JSON document in the column `TOKEN`. With such a map the source is read as canonical.
    public var columns: [String: String]
    /// The provider of every row, for a source that names none.
    public var provider: String?
    /// The key of rows that have neither an account nor their own key.
    public var rowKey: RowKey?
    /// The columns of a CSV file that has no header, or of a table in a dump that names none.
    public var header: [String]?
    /// The separator of a CSV file; nil to detect it from the first line.
    public var separator: Separator?
    /// Whether tokens that look encrypted are imported unchanged.
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

/// The value that names the user. It is used byte by byte: nothing is folded, trimmed or guessed.
public enum UserKey: Hashable, Sendable {
    /// The source's own key of its users.
    case primaryKey
    case email
    case username
    /// A column of the tokens' table or of the users' table.
    case column(String)
}

/// The identity of a row at the next reading, if it has neither an account nor its own key.
public enum RowKey: Hashable, Sendable {
    /// Its line, or its position in the table: for a source to which rows are only appended.
    case line
    /// A column of the tokens' table.
    case column(String)
}

/// The separator between values of a line.
public enum Separator: String, Hashable, Sendable, CaseIterable {
    case comma
    case semicolon
    /// The format of `mysql --batch` and `psql`: `\t`, `\n` and `\\` within a value are escapes, and `NULL` and `\N`
    /// are missing values.
    case tab

    var byte: UInt8 {
        switch self {
        case .comma: UInt8(ascii: ",")
        case .semicolon: UInt8(ascii: ";")
        case .tab: 0x09
        }
    }
}

/// The meaning of a time without a zone, which no source defines.
public enum ZonelessTimes: Hashable, Sendable {
    case utc
    /// Seconds east of Greenwich.
    case offset(seconds: Int)
    /// Such a time counts as unknown.
    case unknown
}

/// The vault's provider for each of the source's names.
public struct ProviderMap: Sendable {
    /// By the source's names.
    public var rules: [String: Rule]
    /// Whether rows whose provider has no rule are rejected. Otherwise the source's name is also the vault's.
    public var requiresRule: Bool

    public init(rules: [String: Rule] = [:], requiresRule: Bool = false) {
        self.rules = rules
        self.requiresRule = requiresRule
    }

    /// The settings of one provider.
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

/// The limits of reading. Anything longer is rejected before it is parsed.
public struct ImportLimits: Hashable, Sendable {
    /// Of one line, record or row.
    public var recordBytes: Int
    /// Of a source that is a single document.
    public var documentBytes: Int

    public init(recordBytes: Int = 1 << 20, documentBytes: Int = 256 << 20) {
        self.recordBytes = recordBytes
        self.documentBytes = documentBytes
    }
}
