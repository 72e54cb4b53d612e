package import VaultCrypto

package struct StoreStatistics: Sendable, Equatable {
    /// 26 base32 characters.
    package let vaultID: String
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
    package let lastBackupAt: Timestamp?
    package let engine: EngineReport
    package let sodiumVersion: String
    package let lockedMemory: LockedMemoryState
    package internal(set) var spool = SpoolDepth()
}
