import VaultCrypto
import VaultMigrations

/// A vault before it is written.
struct VaultDraft {
    static let firstIncarnation: Int64 = 1

    let vaultID: Bytes16
    let createdAt: Timestamp
    let vaultKey: SealingKey
    let keyring: Keyring
    private let slot: KeySlot
    private let keyringCell: [UInt8]

    init(firstSlot: any SlotMaker, label: String, now: Timestamp) throws(StoreError) {
        do throws(VaultCryptoError) {
            try Sodium.initialize()
            vaultID = SecureRandom.bytes16()
            createdAt = now
            vaultKey = try SealingKey.generate()
            keyring = try Keyring.generate()
            slot = try KeySlot.wrap(
                vaultKey, for: firstSlot, id: SecureRandom.bytes16(), label: label, createdAt: now.milliseconds,
                vault: vaultID)
            keyringCell = try keyring.seal(
                under: vaultKey,
                associatedData: Self.associatedData(
                    vaultID, incarnation: Self.firstIncarnation, createdAt: now.milliseconds))
        } catch {
            throw StoreError(opening: error)
        }
    }

    /// What the keyring is bound to: every column of the vault's row.
    static func associatedData(_ vault: Bytes16, incarnation: Int64, createdAt: Int64) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "vault")
        data.append(incarnation)
        data.append(createdAt)
        return data
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
            path: file.path, vaultID: vaultID, incarnation: Self.firstIncarnation, createdAt: createdAt,
            vaultKey: vaultKey, keyring: keyring, clock: clock)
        let transaction = try WriteTransaction(connection, context)
        try transaction.audit(AuditEvent(.vaultCreated), about: AuditSubject())
        try transaction.markMigrationsAsTold()
        try connection.execute("COMMIT")
        try unsafe connection.withImage { image throws(StoreError) in try unsafe file.create(image) }
    }

    private func insertVault(_ connection: Connection) throws(StoreError) {
        let insert = try connection.statement(
            "INSERT INTO vault (id, vaultID, incarnation, createdAt, keyringCell) VALUES (1, ?1, ?2, ?3, ?4)")
        insert.bind(1, vaultID)
        insert.bind(2, Self.firstIncarnation)
        insert.bind(3, createdAt.milliseconds)
        insert.bind(4, keyringCell)
        try insert.run()
    }
}
