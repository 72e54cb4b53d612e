import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// How many ways there are to open a vault, and what trying them may cost.
@Suite struct KeySlotLimitTests {
    private func addKeyFile(_ number: Int, to store: SQLiteVaultStore, _ fixture: VaultFixture) async throws {
        let path = fixture.directory.file("key-\(number)")
        _ = try KeyFile.create(at: path)
        _ = try await store.addKeySlot(KeyFileUnlocker(path: path), label: "\(number)")
    }

    @Test func thereAreAtMost32() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        for number in 2...32 { try await addKeyFile(number, to: store, fixture) }
        let error = await #expect(throws: StoreError.self) { try await addKeyFile(33, to: store, fixture) }
        #expect(error?.code == .conflict)
        #expect(try await store.keySlots().count == 32)
        #expect(try await store.verify().findings == [])
        store.close()
        try SQLiteVaultStore.open(
            at: fixture.path, unlocker: KeyFileUnlocker(path: fixture.directory.file("key-32")), clock: fixture.clock
        ).close()
    }

    /// A row for each of 1 000 passphrases that cost as much as the format admits, before and after the vault's own.
    @Test func plantedRowsCostNothingAndHideNoSlot() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let word = try PassphraseUnlocker(SecretBytes(utf8: "CANARY-word"), cost: .minimum)
        _ = try await store.addKeySlot(word, label: "word")
        store.close()
        try fixture.edit(
            """
            UPDATE keySlot SET id = id + 20;
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
            INSERT INTO keySlot (id, handle, kind, keyID, salt, operations, memoryKiB, label, createdAt, cell)
                SELECT CASE WHEN n < 20 THEN n ELSE n + 100 END, randomblob(16), 2, randomblob(16), randomblob(16), 10,
                    2097152, '', 1, (SELECT cell FROM keySlot LIMIT 1) FROM number
            """)
        try fixture.open().close()
        try SQLiteVaultStore.open(at: fixture.path, unlocker: word, clock: fixture.clock).close()
        let wrong = try PassphraseUnlocker(SecretBytes(utf8: "another"), cost: .minimum)
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.open(at: fixture.path, unlocker: wrong, clock: fixture.clock)
        }
        #expect(error?.code == .keyUnavailable(.unlockingTooDear))
    }
}
