package import FoundationEssentials
import VaultCrypto
package import VaultStorage

/// A backup that was made of a vault, as the vault remembers it. Where its file is by now, the vault does not know.
package struct Backup: Sendable, Equatable, Identifiable {
    package let id: BackupID
    /// The moment whose state it holds.
    package let madeAt: Date
    /// Where it was made.
    package let path: String
    package let byteCount: Int64
    /// The last row of the audit trail in it.
    package let auditSequence: Int64
    /// The only recipients that can open it. Empty: the keys that the vault had when it was made open it.
    package let recipients: [String]
    /// False: its maker was stopped before it was done, so it may be there or not.
    package let isFinished: Bool
}

/// Names one backup. Random; not a secret. Written as 26 lower-case base32 characters.
package struct BackupID: Hashable, Sendable, LosslessStringConvertible {
    package let handle: BackupHandle

    package init(_ handle: BackupHandle) { self.handle = handle }

    /// Reads the text form; nil if it is not one.
    package init?(_ description: String) {
        guard let handle = BackupHandle(text: description) else { return nil }
        self.handle = handle
    }

    package var description: String { handle.text }
}

/// One line of a listing of backups. A row that was changed behind the vault's back is listed as such.
package enum BackupEntry: Sendable, Equatable {
    case backup(Backup)
    case damaged(id: BackupID?, String)

    /// Nil for a damaged one.
    package var backup: Backup? {
        if case .backup(let backup) = self { backup } else { nil }
    }
}

extension Backup {
    init(_ record: BackupRecord) {
        self.init(
            id: BackupID(record.handle), madeAt: record.madeAt.date, path: record.path, byteCount: record.byteCount,
            auditSequence: record.auditSequence, recipients: record.recipients,
            isFinished: record.finishedAt != nil)
    }
}
