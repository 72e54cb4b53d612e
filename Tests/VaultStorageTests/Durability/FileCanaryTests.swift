import Foundation
import TestSupport
import Testing
import VaultSQLite
import VaultStorage

/// Nothing that is secret, and no user's name, may stand in any file of a vault.
@Suite struct FileCanaryTests {
    private static let marker = Array("CANARY".utf8)

    @Test func noFileOfAVaultShowsASecret() async throws {
        let vault = try VaultFixture()
        try vault.create().close()
        let store = try vault.open()
        try await vault.fill(store)
        try await vault.change(store)
        let login = try #require(try await store.user(SampleVault.manyLogins[1]).logins.first)
        try await store.updateLogin(login) { $0.isRemoved = true }
        try await store.updateUser(SampleVault.oneLogin) { $0.isErased = true }
        await #expect(throws: CancellationError.self) {
            try await store.updateLogin(try await store.user(SampleVault.manyLogins[0]).logins[0]) { state in
                state.session.label = "CANARY-undone"
                throw CancellationError()
            }
        }
        // Somebody who has the vault open keeps the WAL.
        let company = try RawDatabase(vault.path)
        _ = try company.integer("SELECT count(*) FROM login")
        store.close()
        var scanned = try Self.scan(vault.directory)
        try company.execute("VACUUM INTO '\(vault.directory.file("snapshot.db"))'")
        scanned.merge(try Self.scan(vault.directory)) { max($0, $1) }
        print(
            "canaries: \(scanned.values.reduce(0, +)) bytes in \(scanned.keys.sorted().joined(separator: ", ")): 0 hits"
        )
        for name in ["vault.db", "vault.db-wal", "vault.db-shm", "snapshot.db"] { #expect(scanned[name] ?? 0 > 0) }
        #expect(scanned["vault.db.lock"] != nil)
    }

    /// How many bytes each file has, none of which shows a secret.
    private static func scan(_ directory: PrivateDirectory) throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            let bytes = try FileBytes.read(directory.file(name))
            #expect(!contains(bytes), "\(name) shows a secret")
            sizes[name] = bytes.count
        }
        return sizes
    }

    @Test func theScannerFindsWhatIsPlanted() throws {
        let vault = try VaultFixture()
        try vault.create().close()
        try RawDatabase(vault.path).execute("UPDATE keySlot SET label = 'a CANARY-planted'")
        #expect(Self.contains(try FileBytes.read(vault.path)))
        #expect(!Self.contains(Array("CANAR".utf8)))
        #expect(Self.contains(Self.marker))
    }

    private static func contains(_ bytes: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(marker)) != nil
    }
}
