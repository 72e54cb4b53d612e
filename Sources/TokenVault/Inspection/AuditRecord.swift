public import FoundationEssentials

/// One row of the audit trail: something that happened, never a token or another secret.
public struct AuditRecord: Sendable, Equatable {
    /// Rows are numbered from 1 in the order in which they were committed.
    public let sequence: Int64
    public let date: Date
    /// What happened, such as `renewed` or `token-revealed`. Versions to come may add words.
    public let kind: String
    /// The random name of the user that the row is about. It outlives the user.
    public let userHandle: String?
    public let login: LoginID?
    /// The name of the provider that the row is about, or its login; a random name if the provider was removed.
    public let provider: String?
    /// The person who did it, where it was not a service that acted by itself.
    public let actor: VaultOptions.Actor?
    /// Of the user or provider, or of the vault's own row, after the change.
    public let revision: Int64?
    public let details: [Detail]
    /// How the login stands afterwards.
    public let state: SessionState?
    /// How many links of the login's chain are stored afterwards.
    public let generation: Int64?
    public let pruning: Pruning?
    /// The link by which the row continues the chain, 32 bytes; nil if it is damaged.
    public let link: [UInt8]?
    /// Why the row is not as it was written.
    public let damage: String?

    public struct Detail: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    /// What a pruning of the trail did.
    public struct Pruning: Sendable, Equatable {
        /// The first and the last row that it went through.
        public let first: Int64
        public let through: Int64
        public let removed: Int64
        /// How many rows up to `through` have stayed, of all prunings.
        public let kept: Int64
    }
}

/// Which rows of the audit trail are wanted.
public struct AuditQuery: Sendable, Equatable {
    public var userId: String?
    /// The same by the random name in the rows, which outlives the user.
    public var userHandle: String?
    public var login: LoginID?
    /// Rows about this provider, or about logins that are there.
    public var provider: String?
    /// Empty: all.
    public var kinds: Set<String>
    public var since: Date?
    /// Rows from this time on are left out.
    public var until: Date?

    public init(
        userId: String? = nil, userHandle: String? = nil, login: LoginID? = nil, provider: String? = nil,
        kinds: Set<String> = [], since: Date? = nil, until: Date? = nil
    ) {
        self.userId = userId
        self.userHandle = userHandle
        self.login = login
        self.provider = provider
        self.kinds = kinds
        self.since = since
        self.until = until
    }
}

/// Some rows of the audit trail.
public struct AuditRecords: Sendable, Equatable {
    /// In the order in which they were asked for.
    public let records: [AuditRecord]
    /// Where the next page begins; nil: there is none.
    public let next: Int64?
}

/// How long rows of the audit trail are kept.
public struct AuditRetention: Sendable, Equatable {
    /// Rows older than this are removed.
    public var age: Duration
    /// So many of the newest stay, whatever their age; at least 1 000.
    public var keepingLast: Int64

    /// 90 days.
    public static let standard = AuditRetention(age: .seconds(90 * 86_400))

    public init(age: Duration, keepingLast: Int64 = 1_000) {
        self.age = max(.zero, age)
        self.keepingLast = max(1_000, keepingLast)
    }
}

/// What a pruning of the audit trail did, or would do.
public struct AuditPruning: Sendable, Equatable {
    public let removed: Int64
    /// Rows that it went through and that stay: the last of each user, of each provider and of the vault, and what a full
    /// check needs.
    public let kept: Int64
    /// How many of those that it removed were damaged.
    public let damaged: Int64
    /// The last row that it went through; nil: there was nothing to remove.
    public let through: Int64?
}

/// What a check of the audit trail found.
public struct AuditReport: Sendable, Equatable {
    public let entries: Int
    /// The number and the link of the last row: someone who keeps them elsewhere can tell later whether the vault was put
    /// back to an older state.
    public let headSequence: Int64
    public let headLink: [UInt8]
    /// Rows up to this one were pruned, but for those that had to stay; 0: none.
    public let prunedThrough: Int64
    /// All of them; ``findings`` holds the first thousand.
    public let findingCount: Int
    public let findings: [VerificationFinding]
    /// Whether everything that was found looks like former states that were put back.
    public let isOnlyRolledBack: Bool

    public var isClean: Bool { findingCount == 0 }
}
