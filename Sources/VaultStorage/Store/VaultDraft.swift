import VaultCrypto
import VaultMigrations

/// A vault before it is written.
struct VaultDraft {
    static let firstIncarnation: Int64 = 1

    let vaultID: Bytes16
    let createdAt: Timestamp
    let vaultKey: SealingKey
    let row: VaultRow
    let openedBy: ProvenKeySlot
    private let slot: KeySlot
    private let keyringCell: [UInt8]
    private let manifestCell: [UInt8]

    init(firstSlot: any SlotMaker, label: String, now: Timestamp) throws(StoreError) {
        do throws(VaultCryptoError) {
            try Sodium.initialize()
            vaultID = SecureRandom.bytes16()
            createdAt = now
            vaultKey = try SealingKey.generate()
            slot = try KeySlot.wrap(
                vaultKey, for: firstSlot, id: SecureRandom.bytes16(), label: label, createdAt: now.milliseconds,
                vault: vaultID)
            openedBy = try ProvenKeySlot(slot)
            var row = VaultRow(
                incarnation: Self.firstIncarnation, createdAt: now, revision: 1, auditSequence: 1,
                keyring: try .generate(), keyringTag: openedBy.tag, manifest: VaultManifest())
            row.manifest.keySlots[slot.description.id] = openedBy.tag
            keyringCell = try row.sealKeyring(vaultID, under: vaultKey)
            manifestCell = try row.sealManifest(vaultID, under: vaultKey)
            self.row = row
        } catch {
            throw StoreError(opening: error)
        }
    }

    /// Makes the vault in memory, as one whole file: nothing of it is on disk before all of it is.
    func write(to file: VaultFile, clock: @escaping @Sendable () -> Timestamp) throws(StoreError) {
        let connection = try Connection(path: ":memory:", access: .memory)
        try connection.execute("PRAGMA page_size = 4096")
        try connection.execute("PRAGMA application_id = \(Connection.applicationID)")
        try connection.prepareForInspection()
        let migrator = Migrator(file, clock: clock)
        for migration in Migrations.all { try migrator.apply(migration, on: connection) }
        try connection.execute("BEGIN IMMEDIATE")
        try insertVault(connection)
        try KeySlotRows.insert(slot, connection)
        let context = VaultContext(
            vaultID: vaultID, vaultKey: vaultKey, openedBy: openedBy, row: row, clock: clock)
        let transaction = try WriteTransaction(connection, context)
        try transaction.audit(AuditEvent(.vaultCreated), about: AuditSubject(revision: row.revision))
        try transaction.markMigrationsAsTold()
        try connection.execute("COMMIT")
        try unsafe connection.withImage { image throws(StoreError) in try unsafe file.create(image) }
    }

    private func insertVault(_ connection: Connection) throws(StoreError) {
        let insert = try connection.statement(
            """
            INSERT INTO vault (id, vaultID, incarnation, createdAt, keyringCell, revision, auditSequence, manifestCell)
            VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        insert.bind(1, vaultID)
        insert.bind(2, row.incarnation)
        insert.bind(3, createdAt.milliseconds)
        insert.bind(4, keyringCell)
        insert.bind(5, row.revision)
        insert.bind(6, row.auditSequence)
        insert.bind(7, manifestCell)
        try insert.run()
    }
}
