import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Counters that stand in the clear: a wrong one is refused or outvoted, and never ends the process.
@Suite struct CounterTests {
    private func vault(_ sql: String) async throws -> VaultFixture {
        let vault = try await VaultImage.history().current.layOut()
        try RawDatabase(vault.path).execute(sql)
        return vault
    }

    @Test(arguments: ["9223372036854775807", "4611686018427387904", "-1", "'x'", "NULL"])
    func aFenceThatCannotGrowStopsNoRenewal(counter: String) async throws {
        let vault = try await vault("UPDATE sqlite_sequence SET seq = \(counter)")
        let store = try vault.open()
        defer { store.close() }
        let login = try #require(try await store.user(SampleVault.oneLogin).logins.first)
        let counterRow = DamagedRowName.row(.fenceCounter, 1)
        #expect(try await store.damagedRows(limit: 10).map(\.name) == [counterRow])
        #expect(!(try await store.verify().isClean))
        try await store.updateLogin(login) { _ = $0.openIntent(owner: 1, at: SteppingClock.start) }
        let fence = try #require(try await store.login(login).intent?.fence)
        #expect(fence > 1 << 60)
        // SQLite itself raises a counter that is lower than the fence, or that is no number.
        if Int64(counter).map({ $0 > 0 }) == true {
            #expect(!(try await store.verify().isClean))
            let discarded = try await store.discardDamagedRow(counterRow)
            #expect(discarded.row.table == .fenceCounter)
        }
        #expect(try await store.verify().isClean)
        #expect(try await store.damagedRows(limit: 10).isEmpty)
    }

    @Test(arguments: ["UPDATE sqlite_sequence SET seq = 0", "DELETE FROM sqlite_sequence"])
    func aFenceThatWasTurnedBackIsStillNewAmongTheOpenOnes(sql: String) async throws {
        let vault = try await vault(sql)
        let store = try vault.open()
        defer { store.close() }
        let login = try #require(try await store.user(SampleVault.oneLogin).logins.first)
        try await store.updateLogin(login) { _ = $0.openIntent(owner: 1, at: SteppingClock.start) }
        var fences: [Int64] = []
        for user in SampleVault.userIds {
            for login in try await store.user(user).logins {
                if let fence = try await store.login(login).intent?.fence { fences.append(fence) }
            }
        }
        #expect(fences.count == 4 && Set(fences).count == 4)
        #expect(try await store.verify().isClean)
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "-1"])
    func anAuditTrailThatCannotGrowIsRefusedForWritingAlone(sequence: String) async throws {
        let vault = try await vault(
            "UPDATE audit SET sequence = \(sequence) WHERE sequence = (SELECT max(sequence) FROM audit)")
        let store = try vault.open()
        defer { store.close() }
        let login = try #require(try await store.user(SampleVault.oneLogin).logins.first)
        _ = try await store.session(.login(login))
        // It may be taken or refused, but the damage stays visible.
        try? await store.updateLogin(login) { $0.session.label = "CANARY-new" }
        #expect(!(try await store.verify().isClean))
    }
}
