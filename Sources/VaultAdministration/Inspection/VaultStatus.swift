package import FoundationEssentials

/// The contents of a vault, in figures.
package struct VaultStatus: Sendable, Equatable {
    /// Random, made with the vault. 26 base32 characters.
    package let vaultID: String
    package let schemaVersion: Int
    package let createdAt: Date
    package let users: Int
    package let logins: Int
    package let providers: Int
    package let keySlots: Int
    /// Renewals without a recorded end: in progress, or in doubt.
    package let openRenewals: Int
    /// Revocations that no provider has confirmed yet.
    package let pendingRevocations: Int
    package let auditEntries: Int
    /// The moment whose state the last finished backup holds; nil: unknown.
    package let lastBackupAt: Date?
    package let fileBytes: Int64
    /// The engine that holds the vault's tables.
    package let engine: Engine
    /// The version of the linked SQLite library, or of the server.
    package let engineVersion: String
    /// The safety of a commit if the server is lost; nil for a file.
    package let standby: Standby?
    /// Whether the linked SQLite can lose acknowledged commits at a checkpoint (3.7.0–3.51.2). This vault's
    /// checkpoints avoid it; other programs that open the file do not.
    package let isSQLiteAffectedByWALReset: Bool
    package let sodiumVersion: String
    package let lockedMemory: LockedMemory

    package enum Engine: String, Sendable, Equatable {
        case sqlite = "SQLite"
        case postgreSQL = "PostgreSQL"
        /// For tests.
        case memory
    }

    package enum Standby: String, Sendable, Equatable {
        /// No other server has a copy.
        case none
        /// The last commits are lost if the server is lost.
        case asynchronous
        /// A commit is answered once a standby has it, too.
        case synchronous
    }

    /// Whether the keys in memory are kept out of swap.
    package enum LockedMemory: String, Sendable, Equatable {
        case full
        case partial
        case none
    }
}
