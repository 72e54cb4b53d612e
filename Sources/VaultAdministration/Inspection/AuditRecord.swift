package import FoundationEssentials
package import TokenVault

/// One row of the audit trail: something that happened, never a token or another secret.
package struct AuditRecord: Sendable, Equatable {
    /// Rows are numbered from 1 in the order in which they were committed.
    package let sequence: Int64
    package let date: Date
    /// What happened, such as `renewed` or `tokenRevealed`. Versions to come may add words.
    package let kind: String
    /// The random name of the user that the row is about. It outlives the user.
    package let userHandle: String?
    package let login: LoginID?
    /// The name of the provider that the row is about, or its login; a random name if the provider was removed.
    package let provider: String?
    /// The person who did it, where it was not a service that acted by itself.
    package let actor: VaultOptions.Actor?
    /// Of the user or provider, or of the vault's own row, after the change.
    package let revision: Int64?
    package let details: [Detail]
    /// How the login stands afterwards.
    package let state: SessionState?
    /// How many links of the login's chain are stored afterwards.
    package let generation: Int64?
    package let pruning: Pruning?
    /// The link by which the row continues the chain, 32 bytes; nil if it is damaged.
    package let link: [UInt8]?
    /// Why the row is not as it was written.
    package let damage: String?

    package struct Detail: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// What a pruning of the trail did.
    package struct Pruning: Sendable, Equatable {
        /// The first and the last row that it went through.
        package let first: Int64
        package let through: Int64
        package let removed: Int64
        /// How many rows up to `through` have stayed, of all prunings.
        package let kept: Int64
    }
}

/// Which rows of the audit trail are wanted.
package struct AuditQuery: Sendable, Equatable {
    package var userId: String?
    /// The same by the random name in the rows, which outlives the user.
    package var userHandle: String?
    package var login: LoginID?
    /// Rows about this provider, or about logins that are there.
    package var provider: String?
    /// Empty: all.
    package var kinds: Set<String>
    package var since: Date?
    /// Rows from this time on are left out.
    package var until: Date?

    package init(
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
package struct AuditRecords: Sendable, Equatable {
    /// In the order in which they were asked for.
    package let records: [AuditRecord]
    /// Where the next page begins; nil: there is none.
    package let next: Int64?
}

/// What a pruning of the audit trail did, or would do.
package struct AuditPruning: Sendable, Equatable {
    package let removed: Int64
    /// Rows that it went through and that stay: the last of each user, of each provider and of the vault, and what a full
    /// check needs.
    package let kept: Int64
    /// How many of those that it removed were damaged.
    package let damaged: Int64
    /// The last row that it went through; nil: there was nothing to remove.
    package let through: Int64?
}

/// What a check of the audit trail found.
package struct AuditReport: Sendable, Equatable {
    package let entries: Int
    /// The number and the link of the last row: someone who keeps them elsewhere can tell later whether the vault was put
    /// back to an older state.
    package let headSequence: Int64
    package let headLink: [UInt8]
    /// Rows up to this one were pruned, but for those that had to stay; 0: none.
    package let prunedThrough: Int64
    /// All of them; ``findings`` holds the first thousand.
    package let findingCount: Int
    package let findings: [VerificationFinding]
    /// Whether everything that was found looks like former states that were put back.
    package let isOnlyRolledBack: Bool

    package var isClean: Bool { findingCount == 0 }
}
