package import VaultCrypto

package struct StoreStatistics: Sendable {
    /// 26 base32 characters.
    package let vaultID: String
    package let schemaVersion: Int
    package let incarnation: Int64
    package let createdAt: Timestamp
    package let users: Int
    package let logins: Int
    package let providers: Int
    package let keySlots: Int
    package let openIntents: Int
    package let pendingRevocations: Int
    package let authorizationRequests: Int
    package let auditRows: Int
    package let databaseBytes: Int64
    package let sqliteVersion: String
    package let sqliteSourceID: String
    /// Whether the SQLite library can lose acknowledged commits when a checkpoint meets a restart of the WAL
    /// (3.7.0–3.51.2); the store's checkpoints are gated against it in any case.
    package let isSQLiteAffectedByWALReset: Bool
    package let sodiumVersion: String
    package let lockedMemory: LockedMemoryState
    package internal(set) var spool = SpoolDepth()
}
