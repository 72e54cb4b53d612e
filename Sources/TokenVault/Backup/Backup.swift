public import FoundationEssentials
import VaultCrypto
import VaultStorage

/// A backup that was made of a vault, as the vault remembers it. Where its file is by now, the vault does not know.
public struct Backup: Sendable, Equatable, Identifiable {
    public let id: BackupID
    /// The moment whose state it holds.
    public let madeAt: Date
    /// Where it was made.
    public let path: String
    public let byteCount: Int64
    /// The last row of the audit trail in it.
    public let auditSequence: Int64
    /// Who alone can open it; empty: the keys that the vault had when it was made.
    public let recipients: [String]
    /// False: its maker was stopped before it was done, so it may be there or not.
    public let isFinished: Bool
}

/// Names one backup. Random; not a secret. Written as 26 lower-case base32 characters.
public struct BackupID: Hashable, Sendable, LosslessStringConvertible {
    let handle: BackupHandle

    init(_ handle: BackupHandle) { self.handle = handle }

    /// Reads the text form; nil if it is not one.
    public init?(_ description: String) {
        guard let handle = BackupHandle(text: description) else { return nil }
        self.handle = handle
    }

    public var description: String { handle.text }
}

/// One line of a listing of backups. A row that was changed behind the vault's back is listed as such.
public enum BackupEntry: Sendable, Equatable {
    case backup(Backup)
    case damaged(id: BackupID?, String)

    /// Nil for a damaged one.
    public var backup: Backup? {
        if case .backup(let backup) = self { backup } else { nil }
    }
}

/// What a backup's file says of itself.
public struct BackupFacts: Sendable, Equatable {
    public let path: String
    public let id: BackupID
    /// Of the vault that it was made of.
    public let vaultID: String
    public let madeAt: Date
    public let schemaVersion: Int
    public let incarnation: Int64
    public let auditSequence: Int64
    /// Of the database in it.
    public let byteCount: Int64
    public let users: Int
    public let logins: Int
    public let providers: Int
    /// The key slots by which it can be opened, as the vault had them then.
    public let keySlots: [String]
    public let recipients: [String]
    public let toolVersion: String
}

extension Backup {
    init(_ record: BackupRecord) {
        self.init(
            id: BackupID(record.handle), madeAt: record.madeAt.date, path: record.path, byteCount: record.byteCount,
            auditSequence: record.auditSequence, recipients: record.recipients,
            isFinished: record.finishedAt != nil)
    }
}

extension BackupFacts {
    init(_ manifest: BackupManifest, path: String) {
        func count(_ table: Table) -> Int { Int(clamping: manifest.counts[table.rawValue] ?? 0) }
        self.init(
            path: path, id: BackupID(manifest.backup), vaultID: Base32.encode(manifest.vault),
            madeAt: manifest.madeAt.date, schemaVersion: Int(clamping: manifest.schemaVersion),
            incarnation: manifest.incarnation, auditSequence: manifest.vaultSequence, byteCount: manifest.byteCount,
            users: count(.user), logins: count(.login), providers: count(.provider),
            keySlots: manifest.slots.map(\.label), recipients: manifest.recipients, toolVersion: manifest.toolVersion)
    }
}
