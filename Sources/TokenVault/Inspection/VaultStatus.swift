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
    public let sqliteVersion: String
    /// Whether the linked SQLite can lose acknowledged commits at a checkpoint (3.7.0–3.51.2). This vault's
    /// checkpoints avoid it; other programs that open the file do not.
    public let isSQLiteAffectedByWALReset: Bool
    public let sodiumVersion: String
    public let lockedMemory: LockedMemory

    /// Whether the keys in memory are kept out of swap.
    public enum LockedMemory: String, Sendable, Equatable {
        case full
        case partial
        case none
    }
}
