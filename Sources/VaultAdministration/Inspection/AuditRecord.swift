package import FoundationEssentials
package import TokenVault
package import VaultStorage

/// One row of the audit trail: an event, never a token or another secret.
package struct AuditRecord: Sendable, Equatable {
    /// Rows are numbered from 1 in the order in which they were committed.
    package let sequence: Int64
    package let date: Date
    /// The event, such as `renewed` or `tokenRevealed`. Later versions may add words.
    package let kind: String
    /// The random name of the user that the row is about. It outlives the user.
    package let userHandle: String?
    package let login: LoginID?
    /// The name of the provider that the row is about, or its login; a random name if the provider was removed.
    package let provider: String?
    /// The person who did it, where it was not a service that acted by itself.
    package let actor: VaultOptions.Actor?
    /// The revision of the user or provider, or of the vault's own row, after the change.
    package let revision: Int64?
    package let details: [Detail]
    /// The state of the login afterwards.
    package let state: SessionState?
    /// How many links of the login's chain are stored afterwards.
    package let generation: Int64?
    package let pruning: Pruning?
    /// The link that continues the chain with this row, 32 bytes; nil if it is damaged.
    package let link: [UInt8]?
    /// Why the row differs from what was written.
    package let damage: String?

    package struct Detail: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The results of one pruning of the trail.
    package struct Pruning: Sendable, Equatable {
        /// The first and the last row that it visited.
        package let first: Int64
        package let through: Int64
        package let removed: Int64
        /// How many rows up to `through` were kept, by all prunings.
        package let kept: Int64
    }
}

/// A selection of rows of the audit trail.
package struct AuditQuery: Sendable, Equatable {
    package var userId: String?
    /// The user, by the random name in the rows, which outlives the user.
    package var userHandle: String?
    package var login: LoginID?
    /// Rows about this provider, or about its logins.
    package var provider: String?
    /// Empty: all.
    package var kinds: Set<String>
    package var since: Date?
    /// Rows from this time on are excluded.
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

/// A page of rows of the audit trail.
package struct AuditRecords: Sendable, Equatable {
    /// In the requested order.
    package let records: [AuditRecord]
    /// Where the next page begins; nil: there is none.
    package let next: Int64?
}

/// The results of a pruning of the audit trail, done or planned.
package struct AuditPruning: Sendable, Equatable {
    package let removed: Int64
    /// Visited rows that are kept: the last of each user, of each provider and of the vault, and those that a full
    /// check needs.
    package let kept: Int64
    /// How many of the removed rows were damaged.
    package let damaged: Int64
    /// The last visited row; nil: there was nothing to remove.
    package let through: Int64?
}

/// The results of a check of the audit trail.
package struct AuditReport: Sendable, Equatable {
    package let entries: Int
    /// The number and the link of the last row: an operator who keeps them elsewhere can detect later that the vault
    /// was reset to an older state.
    package let headSequence: Int64
    package let headLink: [UInt8]
    /// Rows up to this one were pruned, except those that had to stay; 0: none.
    package let prunedThrough: Int64
    /// The number of all findings; ``findings`` holds the first thousand.
    package let findingCount: Int
    package let findings: [VerificationReport.Finding]
    /// Whether all findings look like former states that were put back.
    package let isOnlyRolledBack: Bool

    package var isClean: Bool { findingCount == 0 }
}
