public import FoundationEssentials

/// What a vault contains, in figures.
public struct VaultStatus: Sendable, Equatable {
    /// Random, made with the vault. 26 base32 characters.
    public let vaultID: String
    public let schemaVersion: Int
    public let createdAt: Date
    public let users: Int
    public let logins: Int
    public let providers: Int
    public let keySlots: Int
    /// Renewals that were begun and whose end is not recorded: under way, or in doubt.
    public let openRenewals: Int
    /// Revocations that no provider has confirmed yet.
    public let pendingRevocations: Int
    public let auditEntries: Int
    /// The moment whose state the last finished backup holds; nil: none is known.
    public let lastBackupAt: Date?
    public let fileBytes: Int64
    /// What keeps the vault's tables.
    public let engine: Engine
    /// Of the SQLite library that is linked, or of the server.
    public let engineVersion: String
    /// What becomes of a commit if the server is lost; nil for a file.
    public let standby: Standby?
    /// Whether the linked SQLite can lose acknowledged commits at a checkpoint (3.7.0–3.51.2). This vault's
    /// checkpoints avoid it; other programs that open the file do not.
    public let isSQLiteAffectedByWALReset: Bool
    public let sodiumVersion: String
    public let lockedMemory: LockedMemory

    public enum Engine: String, Sendable, Equatable {
        case sqlite = "SQLite"
        case postgreSQL = "PostgreSQL"
        /// For tests.
        case memory
    }

    public enum Standby: String, Sendable, Equatable {
        /// No other server has a copy.
        case none
        /// The last commits are lost if the server is.
        case asynchronous
        /// A commit is answered once a standby has it, too.
        case synchronous
    }

    /// Whether the keys in memory are kept out of swap.
    public enum LockedMemory: String, Sendable, Equatable {
        case full
        case partial
        case none
    }
}
