package import TokenVault
import VaultSQLite
import VaultStorage

extension Vault {
    /// The steps of the schema's history that this file has been through. Needs no key.
    ///
    /// - Parameters:
    ///   - path: The vault's file.
    ///   - trustsFileSystem: As ``VaultOptions/trustsFileSystem``.
    /// - Throws: ``VaultError``.
    package static func migrationStatus(at path: String, trustsFileSystem: Bool = false) throws -> MigrationStatus {
        try migrationStatus(in: .sqlite(path), trustsFileSystem: trustsFileSystem)
    }

    /// The same, for a vault in a file or on a server. On a server it waits for the answer.
    package static func migrationStatus(
        in location: VaultLocation, trustsFileSystem: Bool = false
    ) throws -> MigrationStatus {
        try VaultError.translating {
            let steps = try location.engine.migrations(trustsFileSystem: trustsFileSystem).map { step in
                MigrationStatus.Step(version: step.version, name: step.name, appliedAt: step.appliedAt?.date)
            }
            return MigrationStatus(
                steps: steps,
                snapshots: try location.engine.migrationSnapshots().map { MigrationStatus.Snapshot($0) })
        }
    }

    /// Removes copies of the vault that were kept from before migrations. They hold everything that the vault held
    /// then, including users who have been erased since. Any process that opens the vault removes them after 30 days in
    /// any case. Needs no key.
    ///
    /// - Parameters:
    ///   - path: The vault's file.
    ///   - isMeant: The copies to remove. By default all.
    /// - Returns: Those that were removed.
    @discardableResult
    package static func discardMigrationSnapshots(
        at path: String, _ isMeant: (MigrationStatus.Snapshot) -> Bool = { _ in true }
    ) throws -> [MigrationStatus.Snapshot] {
        try VaultError.translating {
            try SQLiteVaultStore.discardMigrationSnapshots(at: path) { isMeant(MigrationStatus.Snapshot($0)) }
                .map { MigrationStatus.Snapshot($0) }
        }
    }

    /// Brings a vault of an older version up to date. Two processes at once are safe; a vault that is up to date is not
    /// changed.
    @discardableResult
    package static func migrate(
        at path: String, unlockedBy source: KeySource, options: VaultOptions = .init()
    ) async throws -> MigrationStatus {
        try await migrate(in: .sqlite(path), unlockedBy: source, options: options)
    }

    /// The same, for a vault in a file or on a server.
    @discardableResult
    package static func migrate(
        in location: VaultLocation, unlockedBy source: KeySource, options: VaultOptions = .init()
    ) async throws -> MigrationStatus {
        var options = options
        options.migrate = true
        try await open(in: location, unlockedBy: source, options: options).close()
        return try migrationStatus(in: location, trustsFileSystem: options.trustsFileSystem)
    }
}
