import Glibc
import TestSupport
import VaultSQLite
import VaultStorage

/// The bytes of a closed, checkpointed sample vault with its key file, to be laid out again as often as needed.
struct VaultImage: Sendable {
    let database: [UInt8]
    let keyFile: [UInt8]
    /// Empty if the vault has only one slot.
    let spareKeyFile: [UInt8]
    let time: Timestamp

    /// The sample vault at two points of its life, and what a reader must find at the later one.
    struct History: Sendable {
        let older: VaultImage
        let current: VaultImage
        let baseline: Readings
    }

    static func history() async throws -> History { try await shared.value }

    private static let shared = Task { try await makeHistory() }

    /// A vault of its own, with the same users but other keys.
    static func makeHistory() async throws -> History {
        let vault = try VaultFixture()
        try vault.create().close()
        try await withStore(of: vault) { try await vault.fill($0) }
        let older = try VaultImage(of: vault)
        try await withStore(of: vault) { try await vault.change($0) }
        let current = try VaultImage(of: vault)
        let copy = try current.layOut()
        let store = try copy.open()
        defer { store.close() }
        return History(older: older, current: current, baseline: await Readings(of: store))
    }

    private static func withStore(
        of vault: VaultFixture, _ body: (SQLiteVaultStore) async throws -> Void
    ) async throws {
        let store = try vault.open()
        defer { store.close() }
        try await body(store)
    }

    /// - Parameter vault: without an open store.
    init(of vault: VaultFixture) throws {
        try RawDatabase(vault.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database = try FileBytes.read(vault.path)
        keyFile = try FileBytes.read(vault.keyFile)
        let hasSpare = unsafe access(vault.spareKeyFile, F_OK) == 0
        spareKeyFile = hasSpare ? try FileBytes.read(vault.spareKeyFile) : []
        time = vault.now
    }

    /// A vault in a new directory, whose clock stands where it stood for the image.
    ///
    /// - Parameter bytes: what the database file holds instead of the image's own bytes.
    func layOut(_ bytes: [UInt8]? = nil) throws -> VaultFixture {
        let clock = SteppingClock()
        clock.advance(time.since(SteppingClock.start))
        let vault = try VaultFixture(time: clock, makesKey: false)
        try FileBytes.write(bytes ?? database, to: vault.path)
        try FileBytes.write(keyFile, to: vault.keyFile)
        if !spareKeyFile.isEmpty { try FileBytes.write(spareKeyFile, to: vault.spareKeyFile) }
        return vault
    }
}
