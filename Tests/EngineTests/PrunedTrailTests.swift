import TestSupport
import Testing
import VaultCrypto

@testable import VaultStorage

/// A trail that was pruned proves what it proved before, on each engine.
@Suite struct PrunedTrailTests {
    private static let everything = TrailLimits(before: nil, keepingLast: 1)

    private static func each(_ body: (TestedVault) throws -> Void) throws {
        try body(TestedVault(SQLiteEngine()))
        try body(TestedVault(MemoryEngine()))
    }

    private static func changed(_ vault: TestedVault, seed: UInt64, _ count: Int = 40) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count { _ = try vault.changeSomething(&random) }
    }

    @Test func aVaultIsWholeHoweverOftenItsTrailIsPruned() throws {
        var removed: Int64 = 0
        var kept: Int64 = 0
        for seed in 1...UInt64(20) {
            let vaults = try [TestedVault(SQLiteEngine()), TestedVault(MemoryEngine())]
            for vault in vaults {
                var random = SeededGenerator(seed: seed)
                for change in 0..<60 {
                    _ = try vault.changeSomething(&random)
                    guard change % 6 == 5 else { continue }
                    let last = Int64.random(in: 1...12, using: &random)
                    let report = try vault.prune(TrailLimits(before: nil, keepingLast: last))
                    (removed, kept) = (removed + report.removed, kept + report.kept)
                    let found = try vault.check().findings
                    try #require(found.isEmpty, "seed \(seed), change \(change) on \(vault.name): \(found)")
                }
                let report = try vault.prune(Self.everything)
                #expect(report.damaged == 0)
                #expect(try vault.check().findings.isEmpty)
                let rows = try vault.keys(of: .audit)
                let statistics = try vault.read { try $0.statistics() }
                #expect(statistics.auditRows == rows.count, "counted without counting")
            }
            let shapes = try vaults.map { try $0.shape() }
            try #require(shapes[0] == shapes[1], "seed \(seed)")
        }
        print("pruned trails: 20 seeds on 2 engines, \(removed) rows removed, \(kept) kept")
        #expect(removed > 1_000 && kept > 100)
    }

    /// Each row that is left, removed, changed in each column, exchanged for another; each row that went, put back.
    @Test func everyChangeOfAPrunedTrailIsFound() throws {
        var tried = 0
        try Self.each { vault in
            try Self.changed(vault, seed: 11)
            let before = try vault.keys(of: .audit).compactMap { try vault.auditRow($0) }
            let first = try vault.prune(TrailLimits(before: nil, keepingLast: 30))
            try Self.changed(vault, seed: 12, 10)
            try vault.prune(TrailLimits(before: nil, keepingLast: 12))
            try #require(try vault.check().isClean)
            #expect(first.removed > 0 && first.kept > 0)
            let keys = try vault.keys(of: .audit)
            func isFound(_ what: String) throws {
                tried += 1
                #expect(try !vault.check().isClean, "\(vault.name): \(what)")
            }
            for (index, key) in keys.enumerated() {
                let row = try #require(try vault.auditRow(key))
                // The end of the trail is guarded by what others remember of it.
                if key != keys.last {
                    try vault.remove(.audit, key)
                    try isFound("row \(key) removed")
                    try vault.put(row, as: key)
                }
                for field in Table.audit.fields where field.name != "time" || key != keys.last {
                    guard let found = try vault.isFound(changing: field, of: .audit, key) else { continue }
                    tried += 1
                    #expect(found, "\(vault.name): \(field.name) of row \(key)")
                }
                let other = keys[(index + 1) % keys.count]
                let otherRow = try #require(try vault.auditRow(other))
                try vault.put(otherRow, as: key)
                try vault.put(row, as: other)
                try isFound("rows \(key) and \(other) exchanged")
                try vault.put(row, as: key)
                try vault.put(otherRow, as: other)
            }
            for (index, row) in before.enumerated() where index > 0 {
                guard case .integer(let sequence)? = row.columns.first?.value, !keys.contains(sequence) else {
                    continue
                }
                try vault.put(row.continuing(before[index - 1]), as: sequence)
                try isFound("row \(sequence) put back")
                try vault.remove(.audit, sequence)
            }
            #expect(try vault.check().isClean)
        }
        print("tampering with pruned trails: \(tried) changes, each found")
        #expect(tried > 400)
    }

    /// Whoever removes a user need not only wait until the trail forgets.
    @Test(arguments: [Table.user, .outbox, .keySlot, .refreshIntent])
    func aRowThatIsGoneIsMissedHoweverOftenTheTrailIsPruned(_ table: Table) throws {
        try Self.each { vault in
            try Self.changed(vault, seed: 21)
            if table == .refreshIntent { try vault.beginRenewal() }
            try vault.prune(Self.everything)
            try #require(try vault.check().isClean)
            try vault.takeAway(table)
            try #require(try !vault.check().isClean)
            for round in 1...3 {
                try vault.prune(Self.everything)
                #expect(try !vault.check().isClean, "\(vault.name): round \(round)")
                try vault.addManyRows(5)
            }
        }
    }

    @Test func aDamagedRowStopsIt() throws {
        try Self.each { vault in
            try Self.changed(vault, seed: 31)
            let row = try #require(try vault.auditRow(10))
            try vault.put(row, as: 11)
            #expect {
                try vault.prune(Self.everything)
            } throws: {
                ($0 as? StoreError)?.isDamage == true
            }
            #expect(try vault.keys(of: .audit).contains(10))
            #expect(try !vault.check().isClean)
            var limits = Self.everything
            limits.includesDamaged = true
            let report = try vault.prune(limits)
            #expect(report.damaged > 0)
        }
    }

    @Test func whatIsYoungOrAmongTheLastStays() throws {
        try Self.each { vault in
            try vault.addManyRows(50)
            let head = try vault.read { try $0.auditHead() }
            #expect(try vault.prune(TrailLimits(before: TestedVault.now)).removed == 0)
            #expect(try vault.prune(TrailLimits(before: nil, keepingLast: 100)).removed == 0)
            #expect(try vault.read { try $0.auditHead() } == head, "nothing is recorded of nothing")
            #expect(try vault.prune(TrailLimits(before: nil, keepingLast: 1, through: 20)).through == 20)
            let left = try vault.keys(of: .audit)
            #expect(left.prefix(2) == [1, 21], "the making of the vault, and what may not go")
            let rest = try vault.prune(TrailLimits(before: TestedVault.now.advanced(by: .seconds(1)), keepingLast: 9))
            #expect(rest.removed > 0 && rest.through ?? 0 < head)
        }
    }

    /// Rows go while they are being checked, before and behind the place that the check has come to.
    @Test func aCheckGoesOnWhileTheTrailIsPruned() throws {
        try Self.each { vault in
            try Self.changed(vault, seed: 41)
            try vault.addManyRows(2_000)
            var batches = 0
            let report = try vault.check {
                batches += 1
                _ = try vault.write { try $0.prune(TrailLimits(before: nil, keepingLast: 300), size: 100) }
            }
            #expect(report.findings.isEmpty, "\(vault.name): \(report.findings.prefix(3))")
            #expect(batches > 10)
            #expect(try vault.check().isClean)
        }
    }

    @Test func whatIsPlannedIsWhatIsDone() throws {
        try Self.each { vault in
            try Self.changed(vault, seed: 51, 80)
            let limits = TrailLimits(before: nil, keepingLast: 10)
            var plan = PrunedRows()
            var end: AuditPosition?
            repeat {
                let part = try vault.read { try $0.prunable(limits, after: end, size: 7) }
                plan += part.rows
                end = part.end
            } while plan.hasMore
            let keysBefore = try vault.keys(of: .audit)
            #expect(plan.removed > 0)
            // In one go: a row that records a pruning is one more row, so that the next step could go one further.
            let done = try vault.write { try $0.prune(limits, size: 1_000) }
            #expect(done == plan)
            #expect(try vault.keys(of: .audit).count == keysBefore.count - Int(plan.removed) + 1)
        }
    }

    // MARK: Other processes

    @Test(arguments: TestedPlace.allCases)
    func aProcessGoesOnWhoseLastRowWasPruned(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let other = try vault.open()
        defer { other.close() }
        let login = try await other.insertLogin(vault.draft("alice")).handle
        for _ in 0..<30 { try await vault.store.updateLogin(login) { $0.session.attempts += 1 } }
        while try await vault.store.pruneTrail(TrailLimits(before: nil, keepingLast: 3)).hasMore {}
        try await other.updateLogin(login) { $0.session.label = "here" }
        #expect(try await vault.store.login(login).session.label == "here")
        #expect(try await other.verify().isClean)
        let audit = try await other.verifyAudit()
        #expect(audit.isClean && audit.prunedThrough > 20)
        #expect(try await audit.trailHead.sequence == other.auditHead())
    }

    @Test(arguments: TestedPlace.allCases)
    func rowsAreListedAndFilteredWithTheirLinks(_ place: TestedPlace) async throws {
        let vault = try place.make()
        let store = vault.store
        let acme = try await store.putProvider(vault.provider("acme"), replacing: nil).handle
        let alice = try await store.insertLogin(vault.draft("alice", provider: acme))
        vault.advance(by: .seconds(60))
        let bob = try await store.insertLogin(vault.draft("bob"))
        func kinds(_ filter: AuditFilter, _ direction: AuditDirection = .after(0)) async throws -> [String] {
            try await store.audit(filter, direction, limit: 100).rows.map(\.entry.kind.name)
        }
        var filter = AuditFilter()
        #expect(try await kinds(filter) == ["vaultCreated", "providerAdded", "loginCreated", "loginCreated"])
        #expect(try await kinds(filter, .before(3)) == ["providerAdded", "vaultCreated"])
        filter.provider = acme
        #expect(try await kinds(filter) == ["providerAdded", "loginCreated"])
        filter = AuditFilter()
        filter.user = bob.user
        #expect(try await store.audit(filter, .after(0), limit: 9).rows.map(\.entry.login) == [bob.handle])
        filter = AuditFilter()
        filter.login = alice.handle
        #expect(try await kinds(filter).count == 1)
        filter.until = vault.now
        #expect(try await kinds(filter).count == 1)
        filter.since = vault.now
        filter.until = nil
        #expect(try await kinds(filter) == [])
        var paged: [Int64] = []
        var next: Int64? = 0
        while let start = next {
            let page = try await store.audit(AuditFilter(), .after(start), limit: 1)
            #expect(page.rows.allSatisfy { $0.entry.damage == nil && $0.link != nil })
            paged += page.rows.map(\.entry.sequence)
            next = page.next
        }
        #expect(paged == [1, 2, 3, 4])
    }
}

extension RawRow {
    /// As a row that stayed: with the link of the row before it.
    fileprivate func continuing(_ row: RawRow) -> RawRow {
        let link = row.columns.first { $0.name == "mac" }?.value ?? .null
        return RawRow(
            table: table, columns: columns.map { $0.name == "previous" ? Column(name: $0.name, value: link) : $0 })
    }
}
