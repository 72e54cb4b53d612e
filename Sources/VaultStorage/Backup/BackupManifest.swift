package import VaultCrypto

/// The description that a backup carries of itself. Nothing in it is secret. A MAC under a key of the vault
/// authenticates it.
package struct BackupManifest: Sendable, Equatable {
    package struct Slot: Sendable, Equatable {
        package let handle: KeySlotHandle
        package let kind: Int64
        package let keyID: Bytes16
        package let label: String
    }

    package let vault: Bytes16
    package let backup: BackupHandle
    package let madeAt: Timestamp
    package let schemaVersion: Int64
    package let incarnation: Int64
    /// The end of the audit trail in the backup.
    package let auditSequence: Int64
    package let auditLink: AuditMAC
    /// The end of the vault's own trail at the moment of the backup. A backup that was resealed for recipients has
    /// further rows, which the vault does not have.
    package let vaultSequence: Int64
    /// The size of the database alone.
    package let byteCount: Int64
    package let digest: [UInt8]
    /// The number of rows in each table.
    package let counts: [String: Int64]
    /// The key slots that opened the vault when the backup was made.
    package let slots: [Slot]
    /// The only recipients that can open the backup. If empty, the keys of ``slots`` open it.
    package let recipients: [String]
    package let toolVersion: String

    package init(
        vault: Bytes16, backup: BackupHandle, madeAt: Timestamp, schemaVersion: Int64, incarnation: Int64,
        auditSequence: Int64, auditLink: AuditMAC, vaultSequence: Int64, byteCount: Int64, digest: [UInt8],
        counts: [String: Int64], slots: [Slot], recipients: [String], toolVersion: String
    ) {
        self.vault = vault
        self.backup = backup
        self.madeAt = madeAt
        self.schemaVersion = schemaVersion
        self.incarnation = incarnation
        self.auditSequence = auditSequence
        self.auditLink = auditLink
        self.vaultSequence = vaultSequence
        self.byteCount = byteCount
        self.digest = digest
        self.counts = counts
        self.slots = slots
        self.recipients = recipients
        self.toolVersion = toolVersion
    }
}

extension BackupManifest {
    /// - Parameters:
    ///   - tables: the tables of the backup itself.
    ///   - context: the context of the vault that was backed up, or of the copy if it was resealed.
    package init(
        of tables: any TableAccess, _ context: VaultContext, backup: BackupHandle, madeAt: Timestamp,
        vaultSequence: Int64, byteCount: Int64, digest: [UInt8], recipients: [String], toolVersion: String
    ) throws(StoreError) {
        let row = try context.load(tables, known: context.rows.current, isAnew: true)
        let head = try Self.head(tables)
        var counts: [String: Int64] = [:]
        for table in Table.allCases { counts[table.rawValue] = try tables.count(table) }
        self.init(
            vault: context.vaultID, backup: backup, madeAt: madeAt,
            schemaVersion: Int64(try tables.facts().schemaVersion), incarnation: row.incarnation,
            auditSequence: head.sequence, auditLink: head.link, vaultSequence: vaultSequence, byteCount: byteCount,
            digest: digest, counts: counts,
            slots: try KeySlotRows.all(tables).slots.map { slot in
                Slot(
                    handle: KeySlotHandle(slot.description.id), kind: slot.description.kind.code,
                    keyID: slot.description.keyID.bytes, label: slot.description.label)
            }, recipients: recipients, toolVersion: toolVersion)
    }

    /// The last row of the trail and its link.
    package static func head(_ tables: any TableAccess) throws(StoreError) -> (sequence: Int64, link: AuditMAC) {
        let last = try tables.cursor(.lastLink)
        defer { last.reset() }
        guard try last.step(), let link = unsafe AuditMAC(last.blob(1)) else {
            throw StoreError(.damaged, "the audit trail has no last row that can be read")
        }
        return (last.integer(0), link)
    }

    /// Refuses a backup whose tables do not match the manifest.
    package func check(_ tables: any TableAccess) throws(StoreError) {
        let (sequence, link) = try Self.head(tables)
        var isAsSaid = sequence == auditSequence && link == auditLink
        for table in Table.allCases {
            let count = try tables.count(table)
            isAsSaid = isAsSaid && count == counts[table.rawValue]
        }
        guard isAsSaid else { throw .damagedBackup("its rows are not those that its manifest counts") }
    }
}

extension StoreError {
    package static func damagedBackup(_ reason: String) -> StoreError {
        StoreError(.damaged, "the backup is damaged: \(reason)", hint: "use another backup")
    }
}
