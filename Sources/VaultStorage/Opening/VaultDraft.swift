package import VaultCrypto
import VaultMigrations

/// A vault before it is written.
package struct VaultDraft {
    static let firstIncarnation: Int64 = 1
    private static let recoveryLabel = "recovery"

    let vaultID: Bytes16
    let createdAt: Timestamp
    let row: VaultRow
    private let slot: KeySlot
    private let recoverySlots: [KeySlot]
    private let slotKey: SealingKey
    private let keyringCell: [UInt8]
    private let manifestCell: [UInt8]

    /// - Parameter recipients: The recipients that get a slot of their own from the start.
    package init(
        firstSlot: any SlotMaker, label: String, recipients: [Recipient] = [], now: Timestamp
    ) throws(StoreError) {
        do throws(VaultCryptoError) {
            try Sodium.initialize()
            vaultID = SecureRandom.bytes16()
            createdAt = now
            let vaultKey = try SealingKey.generate()
            let made = try firstSlot.bound(to: vaultID).makeSlot(
                id: SecureRandom.bytes16(), label: label, createdAt: now.milliseconds)
            slot = try KeySlot.wrap(vaultKey, with: made.key, made.description, vault: vaultID)
            slotKey = made.key
            var recoverySlots: [KeySlot] = []
            for recipient in recipients {
                recoverySlots.append(
                    try KeySlot.wrap(
                        vaultKey, for: RecipientMaker(recipient), id: SecureRandom.bytes16(),
                        label: Self.recoveryLabel, createdAt: now.milliseconds, vault: vaultID))
            }
            self.recoverySlots = recoverySlots
            let openedBy = try ProvenKeySlot(slot)
            var row = VaultRow(
                incarnation: Self.firstIncarnation, createdAt: now, revision: 1, auditSequence: 1,
                keyring: try .generate(), keyringTag: openedBy.tag, manifest: VaultManifest(),
                opened: OpenedSlot(vaultKey: vaultKey, slot: openedBy, isProven: false))
            row.manifest.add(slot.description, openedBy.tag)
            keyringCell = try row.sealKeyring(vaultID)
            manifestCell = try row.sealManifest(vaultID)
            self.row = row
        } catch {
            throw StoreError(opening: error)
        }
    }

    package func context(
        manifestLimits: ManifestLimits = .standard, _ clock: @escaping @Sendable () -> Timestamp
    ) -> VaultContext {
        VaultContext(
            vaultID: vaultID, row: row, follower: HeldSlotKey(slotKey), clock: clock, manifestLimits: manifestLimits)
    }

    /// Writes the vault's first rows into tables that hold only the record of migrations.
    package func fill(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        try insertVault(tables)
        try KeySlotRows.insert(slot, tables)
        let transaction = try WriteTransaction(tables, context)
        try transaction.audit(AuditEvent(.vaultCreated), about: AuditSubject(revision: row.revision))
        try transaction.markMigrationsAsTold()
        guard !recoverySlots.isEmpty else { return }
        for slot in recoverySlots { try transaction.add(slot) }
        context.adopt(transaction.rows.current)
    }

    /// Fills tables that are completely empty, as if all migrations had just run.
    package func fillWhole(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) {
        let insert = try tables.cursor(.insertMigration)
        for migration in tables.migrations {
            insert.bind(1, Int64(migration.version))
            insert.bind(2, migration.name)
            insert.bind(3, migration.checksum)
            insert.bind(4, createdAt.milliseconds)
            try insert.run()
        }
        try fill(tables, context)
    }

    private func insertVault(_ tables: any TableAccess) throws(StoreError) {
        let insert = try tables.cursor(.insertVault)
        insert.bind(1, 1)
        insert.bind(2, vaultID)
        insert.bind(3, row.incarnation)
        insert.bind(4, createdAt.milliseconds)
        insert.bind(5, keyringCell)
        insert.bind(6, row.revision)
        insert.bind(7, row.auditSequence)
        insert.bind(8, manifestCell)
        try insert.run()
    }
}

extension Query {
    fileprivate static let insertMigration = insert(into: .migration, "version", "name", "checksum", "appliedAt")
    fileprivate static let insertVault = insert(
        into: .vault, "id", "vaultID", "incarnation", "createdAt", "keyringCell", "revision", "auditSequence",
        "manifestCell")
}
