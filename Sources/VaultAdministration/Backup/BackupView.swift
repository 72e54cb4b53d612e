package import FoundationEssentials
package import TokenVault
import VaultCrypto
import VaultStorage

/// The header of a backup's file.
package struct BackupView: Sendable, Equatable {
    package let path: String
    package let id: BackupID
    /// The id of the vault that was backed up.
    package let vaultID: String
    package let madeAt: Date
    package let schemaVersion: Int
    package let incarnation: Int64
    package let auditSequence: Int64
    /// The size of the database in it.
    package let byteCount: Int64
    package let users: Int
    package let logins: Int
    package let providers: Int
    /// The key slots that can open it, as the vault had them then.
    package let keySlots: [String]
    package let recipients: [String]
    package let toolVersion: String
}

extension BackupView {
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
