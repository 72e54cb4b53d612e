package import VaultCrypto
import VaultSQLite
package import VaultStorage

/// The location of a vault: a file, or a schema on a database server.
///
/// ```swift
/// let vault = try await Vault.open(in: .sqlite("/var/lib/app/tokens.vault"), unlockedBy: .keyFile("/etc/app/vault.key"))
/// ```
///
/// The library `TokenVaultPostgreSQL` adds `postgreSQL(_:schema:stateDirectory:)`.
public struct VaultLocation: Sendable, CustomStringConvertible {
    package let engine: any VaultEngine

    package init(_ engine: any VaultEngine) { self.engine = engine }

    /// A file, shared by processes of one machine.
    ///
    /// - Parameter path: Its directory must exist and be writable by its owner alone.
    public static func sqlite(_ path: String) -> VaultLocation { VaultLocation(SQLiteEngine(path: path)) }

    /// The file's path, or the server's address. Never holds a password.
    public var description: String { engine.description }
}

/// A storage engine for vaults. Calls may block; they throw ``StoreError``.
package protocol VaultEngine: Sendable, CustomStringConvertible {
    /// Makes a vault. Wherever the process is killed, there is a whole vault then, or nothing.
    func create(
        firstSlot: any SlotMaker, label: String, recipients: [Recipient], options: VaultOptions
    ) throws -> any VaultStore

    func open(
        unlocker: any SlotUnlocker, policy: UnlockingPolicy, options: VaultOptions
    ) throws -> any VaultStore

    /// The schema's past and pending migrations. Needs no key.
    func migrations(trustsFileSystem: Bool) throws -> [MigrationStep]
    /// Copies from before migrations.
    func migrationSnapshots() throws -> [MigrationSnapshot]
}

private struct SQLiteEngine: VaultEngine {
    let path: String

    var description: String { path }

    func create(
        firstSlot: any SlotMaker, label: String, recipients: [Recipient], options: VaultOptions
    ) throws -> any VaultStore {
        try SQLiteVaultStore.create(
            at: path, firstSlot: firstSlot, label: label, recipients: recipients,
            trustsFileSystem: options.trustsFileSystem, cachedLogins: options.cachedLogins, by: options.actor?.kept,
            clock: options.clock)
    }

    func open(
        unlocker: any SlotUnlocker, policy: UnlockingPolicy, options: VaultOptions
    ) throws -> any VaultStore {
        try SQLiteVaultStore.open(
            at: path, unlocker: unlocker, migrate: options.migrate, policy: policy,
            trustsFileSystem: options.trustsFileSystem, cachedLogins: options.cachedLogins, by: options.actor?.kept,
            clock: options.clock)
    }

    func migrations(trustsFileSystem: Bool) throws -> [MigrationStep] {
        try SQLiteVaultStore.migrations(at: path, trustsFileSystem: trustsFileSystem)
    }

    func migrationSnapshots() throws -> [MigrationSnapshot] { try SQLiteVaultStore.migrationSnapshots(at: path) }
}

extension VaultLocation: NameRendering {}
