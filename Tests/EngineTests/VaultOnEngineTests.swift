import TestSupport
import Testing
import VaultCrypto

import VaultStorage

/// The vault's own code over each engine: the same cells, the same manifest, the same trail.
struct VaultOnEngineTests {
    @Test func aVaultIsWholeAfterRandomChangesOnEachEngine() throws {
        var changes = 0
        for seed in 1...UInt64(20) {
            let kept = try [
                TestedVault(SQLiteEngine()), TestedVault(MemoryEngine()), TestedVault(PostgreSQLEngine()),
            ]
            for vault in kept {
                var random = SeededGenerator(seed: seed)
                for _ in 0..<40 { changes += try vault.changeSomething(&random) ? 1 : 0 }
                let report = try vault.check()
                #expect(report.findings.isEmpty, "seed \(seed) on \(vault.name): \(report.findings)")
            }
            let shapes = try kept.map { try $0.shape() }
            try #require(shapes.allSatisfy { $0 == shapes[0] }, "seed \(seed): \(shapes)")
        }
        print("vaults on engines: 20 seeds, \(changes) changes")
        #expect(changes > 1_000)
    }

    /// No engine is believed: whatever one column of one row is changed to, reading or checking the vault tells.
    @Test func everyChangedColumnIsFoundOnEachEngine() throws {
        let found = try [
            Self.tamper(TestedVault(SQLiteEngine())), Self.tamper(TestedVault(MemoryEngine())),
            Self.tamper(TestedVault(PostgreSQLEngine())),
        ]
        #expect(found.allSatisfy { $0.unnoticed == Self.unguarded }, "\(found)")
        #expect(found.allSatisfy { $0.tried == found[0].tried })
        #expect(found[0].tried > 100)
        print("tampering on engines: \(found[0].tried) changed values each")
    }

    /// What nothing authenticates, or only a slot's own key: see `docs/vault-format.md`.
    private static let unguarded: Set<String> = ["migration.appliedAt", "keySlot.label", "keySlot.createdAt"]

    private static func tamper(_ vault: TestedVault) throws -> (tried: Int, unnoticed: Set<String>) {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<25 { _ = try vault.changeSomething(&random) }
        var tried = 0
        var unnoticed: Set<String> = []
        for table in Table.allCases where table != .unreportedFailure {
            for key in try vault.keys(of: table).prefix(3) {
                for field in table.fields {
                    guard let isFound = try vault.isFound(changing: field, of: table, key) else { continue }
                    // Each engine has a history of its own.
                    if table != .migration { tried += 1 }
                    if !isFound { unnoticed.insert("\(table.rawValue).\(field.name)") }
                }
            }
        }
        return (tried, unnoticed)
    }
}
