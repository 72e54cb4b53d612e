public import TokenVault
import VaultCrypto
import VaultPostgreSQL
import VaultStorage

extension VaultLocation {
    /// A schema of a PostgreSQL database, shared by processes of several machines.
    ///
    /// ```swift
    /// let vault = try await Vault.open(
    ///     in: .postgreSQL("postgresql://vault@db1,db2/app?sslrootcert=/etc/app/ca.pem"),
    ///     unlockedBy: .keyFile("/etc/app/vault.key"))
    /// ```
    ///
    /// A server on another machine must present a certificate for its name (`sslmode=verify-full`). The connection must
    /// lead to the server itself: a pooler that shares sessions among clients is refused.
    ///
    /// - Parameters:
    ///   - connection: A connection string as libpq reads it. A password belongs in `~/.pgpass` or `PGPASSFILE`.
    ///   - schema: The schema of the vault's tables; nil: the value of `schema=` in the string, or `tokenvault`.
    ///     Letters from a to z, digits and `_`.
    ///   - stateDirectory: An absolute path on this machine, for replies that the server cannot accept; nil: the
    ///     service's `STATE_DIRECTORY`, or `~/.local/state/tokenvault`.
    /// - Throws: ``VaultError/Code/invalidArgument``. Nothing is connected yet.
    public static func postgreSQL(
        _ connection: String, schema: String? = nil, stateDirectory: String? = nil
    ) throws -> VaultLocation {
        try VaultError.translating {
            VaultLocation(
                PostgreSQLEngine(
                    address: try ServerAddress(connection, schema: schema), state: try StateDirectory(stateDirectory)))
        }
    }

    /// Whether a text names a vault on a server rather than a file: `postgresql://…`.
    public static func isPostgreSQL(_ text: String) -> Bool { ServerAddress.isOne(text) }

    /// Whether a connection string contains a password. Only in code is it hidden from other users of the machine.
    public static func holdsPassword(_ connection: String) -> Bool {
        (try? ServerAddress(connection))?.holdsPassword ?? false
    }
}

private struct PostgreSQLEngine: VaultEngine {
    let address: ServerAddress
    let state: StateDirectory

    var description: String { address.display }

    func create(
        firstSlot: any SlotMaker, label: String, recipients: [Recipient], options: VaultOptions
    ) throws -> any VaultStore {
        try PostgreSQLVaultStore.create(
            at: address, state: state, firstSlot: firstSlot, label: label, recipients: recipients,
            by: options.actor?.kept, clock: options.clock)
    }

    func open(
        unlocker: any SlotUnlocker, policy: UnlockingPolicy, options: VaultOptions
    ) throws -> any VaultStore {
        try PostgreSQLVaultStore.open(
            at: address, state: state, unlocker: unlocker, migrate: options.migrate, policy: policy,
            by: options.actor?.kept, clock: options.clock)
    }

    func migrations(trustsFileSystem: Bool) throws -> [MigrationStep] {
        try PostgreSQLVaultStore.migrations(at: address)
    }

    /// The server's own backups replace them.
    func migrationSnapshots() throws -> [MigrationSnapshot] { [] }
}
