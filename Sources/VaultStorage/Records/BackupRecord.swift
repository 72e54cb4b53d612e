/// A backup that was begun of this vault, wherever its file is by now.
package struct BackupRecord: Hashable, Sendable {
    package let handle: BackupHandle
    /// Of the state that it holds.
    package let madeAt: Timestamp
    /// When it had its name. Nil: its maker was stopped before it said so, and the file may be there or not.
    package var finishedAt: Timestamp?
    /// The end of the audit trail in it.
    package let auditSequence: Int64
    package let byteCount: Int64
    package let path: String
    /// Who alone can open it; empty: the keys that the vault had then.
    package let recipients: [String]

    package static let pathLimit = 4_096

    package init(
        handle: BackupHandle, madeAt: Timestamp, auditSequence: Int64, byteCount: Int64, path: String,
        recipients: [String], finishedAt: Timestamp? = nil
    ) {
        self.handle = handle
        self.madeAt = madeAt
        self.finishedAt = finishedAt
        self.auditSequence = auditSequence
        self.byteCount = byteCount
        self.path = path
        self.recipients = recipients
    }
}

/// One line of a listing of backups.
package struct BackupListing: Sendable {
    /// A row that is not as the vault wrote it has none.
    package let record: BackupRecord?
    package let handle: BackupHandle?
    package let damage: StoreError?
}
