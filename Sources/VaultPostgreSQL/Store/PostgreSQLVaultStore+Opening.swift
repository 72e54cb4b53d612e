package import VaultCrypto
package import VaultStorage

extension PostgreSQLVaultStore {
    /// Makes a vault with one key slot, and one for each recipient, in a schema that is empty or missing. All of it is
    /// one transaction.
    package static func create(
        at address: ServerAddress, state: StateDirectory, firstSlot: any SlotMaker, label: String,
        recipients: [Recipient] = [], timeouts: FailoverTimeouts = .init(), by actor: AuditActor? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> PostgreSQLVaultStore {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        let tables = ServerTables(connection, address, .unknown)
        let migrator = ServerMigrator(connection: connection, address: address)
        let draft = try VaultDraft(firstSlot: firstSlot, label: label, recipients: recipients, now: clock())
        let context = draft.context(clock)
        context.actor = actor
        try tables.make { () throws(StoreError) in
            try migrator.lock()
            try migrator.makeSchema()
            for migration in migrator.migrations { try migrator.run(migration) }
            try draft.fillWhole(tables, context)
        }
        return try PostgreSQLVaultStore(address, state, context, connection, timeouts)
    }

    /// Opens an existing vault.
    ///
    /// - Parameters:
    ///   - migrate: whether to migrate an older schema; otherwise it is refused.
    ///   - policy: the cost limits of trying the key slots.
    ///   - timeouts: how long to wait for other processes, if the server is not the same as before.
    package static func open(
        at address: ServerAddress, state: StateDirectory, unlocker: any SlotUnlocker, migrate: Bool = false,
        policy: UnlockingPolicy = .init(), timeouts: FailoverTimeouts = .init(), by actor: AuditActor? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> PostgreSQLVaultStore {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        try requireVault(connection, address)
        if migrate {
            try ServerMigrator(connection: connection, address: address).migrate(at: clock())
        }
        let tables = ServerTables(connection, address, .unknown)
        try SchemaVersion.check(connection)
        try ServerSchema(address.schema).check(connection)
        guard let context = try VaultContext.open(tables, unlocker: unlocker, policy: policy, clock: clock) else {
            throw StoreError(.damaged, "the vault's own row is missing", hint: "restore the database from a backup")
        }
        context.actor = actor
        let isUnreported = try WriteTransaction.hasUnreportedMigrations(tables)
        let store = try PostgreSQLVaultStore(address, state, context, connection, timeouts)
        if isUnreported { store.writer.submit(MigrationAudit()) }
        return store
    }

    /// The applied and the pending migrations. Needs no key.
    package static func migrations(at address: ServerAddress) throws(StoreError) -> [MigrationStep] {
        let connection = try ServerConnection(address)
        try SessionSettings.apply(to: connection, address)
        try requireVault(connection, address)
        return try ServerMigrator(connection: connection, address: address).status()
    }

    private static func requireVault(
        _ connection: ServerConnection, _ address: ServerAddress
    ) throws(StoreError) {
        switch try ServerSchema(address.schema).content(connection) {
        case .vault: return
        case .nothing:
            throw StoreError(
                .vaultMissing, "there is no vault in the schema \(address.schema) of this database",
                hint: "check host, database and schema, or make one: vaultctl init")
        case .other:
            throw StoreError(
                .notAVault, "the schema \(address.schema) holds tables, but no vault", hint: "check the schema's name")
        }
    }
}
