/// A backup of this vault that was begun, wherever its file is now.
package struct BackupRecord: Hashable, Sendable {
    package let handle: BackupHandle
    /// The time of the state in the backup.
    package let madeAt: Timestamp
    /// When the backup got its name. Nil if the process stopped before it recorded that: the file may exist or not.
    package var finishedAt: Timestamp?
    /// The end of the audit trail in the backup.
    package let auditSequence: Int64
    package let byteCount: Int64
    package let path: String
    /// The only recipients that can open the backup. If empty, the keys that the vault had then open it.
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
    /// The record; nil if the row is not as the vault wrote it.
    package let record: BackupRecord?
    package let handle: BackupHandle?
    package let damage: StoreError?
}
