import Foundation
import Synchronization
import TestSupport
import Testing
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// Replacements of the audit key, on each engine.
@Suite struct AuditKeyTests {
    private struct Populated {
        let vault: TestedStore
        let store: any VaultStore
        let logins: [LoginHandle]

        init(_ place: TestedPlace, users: Int = 5) async throws {
            vault = try place.make()
            store = vault.store
            var logins: [LoginHandle] = []
            for number in 0..<users { logins.append(try await store.insertLogin(vault.draft("user \(number)")).handle) }
            self.logins = logins
        }

        func write(_ count: Int, _ store: (any VaultStore)? = nil) async throws {
            for _ in 0..<count { try await (store ?? self.store).record(AuditEvent(.failureNotified)) }
        }

        func prune(keeping last: Int64 = 2) async throws {
            while try await store.pruneTrail(TrailLimits(before: nil, keepingLast: last)).hasMore {}
        }

        func openIntent(_ store: any VaultStore, _ number: Int) async throws {
            let now = vault.now
            try await store.updateLogin(logins[number]) { state in
                state.openIntent(owner: 7, at: now)
                state.auditEvents = [AuditEvent(.renewalStarted)]
            }
        }
    }

    private static func expectWhole(
        _ store: any VaultStore, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await store.verify().findings == [], sourceLocation: sourceLocation)
        let rows = try await store.audit(AuditFilter(), .after(0), limit: 10_000).rows
        #expect(rows.allSatisfy { $0.entry.damage == nil }, sourceLocation: sourceLocation)
        let entries = try await store.auditEntries(after: 0, limit: 10_000)
        #expect(entries.allSatisfy { $0.damage == nil }, sourceLocation: sourceLocation)
    }

    @Test(arguments: TestedPlace.allCases) func bothPartsOfTheTrailAreProven(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        let former = store.context.keyring
        let links = try await store.audit(AuditFilter(), .after(0), limit: 1_000).rows.map(\.link)
        #expect(try await store.auditKeyStatus() == AuditKeyStatus(madeAt: nil, formerKeys: 0))
        // One that was there before, and has looked at nothing since.
        let other = try populated.vault.open()
        defer { other.close() }
        try await populated.openIntent(other, 1)
        let head = try await store.auditHead()
        populated.vault.advance(by: .seconds(60))
        try await store.replaceAuditKey()
        #expect(
            try await store.auditKeyStatus() == AuditKeyStatus(madeAt: populated.vault.now, formerKeys: 1))
        let keyring = store.context.keyring
        #expect(keyring.auditKey(ofRow: head + 1).isSame(as: former.auditKey))
        #expect(!keyring.auditKey(ofRow: head + 2).isSame(as: former.auditKey))
        #expect(other.context.keyring.auditKey.isSame(as: former.auditKey))
        // What is there keeps its link.
        let after = try await other.audit(AuditFilter(), .after(0), limit: 1_000).rows
        #expect(Array(after.map(\.link).prefix(links.count)) == links && after.allSatisfy { $0.entry.damage == nil })
        #expect(
            after.filter { $0.entry.kind == .auditKeyReplaced }.map { $0.entry.value("phase") }
                == ["announced", "begun"])
        let fresh = try populated.vault.open()
        defer { fresh.close() }
        for reader in [other, fresh, store] {
            try await Self.expectWhole(reader)
            #expect(try await reader.openIntents(after: nil, limit: 10).intents.count == 1)
            #expect(try await reader.login(populated.logins[1]).intent != nil)
        }
        try await populated.write(3, other)
        try await populated.write(3, fresh)
        try await store.replaceAuditKey()
        for reader in [other, fresh, store] { try await Self.expectWhole(reader) }
        #expect(try await fresh.auditKeyStatus().formerKeys == 2)
    }

    /// A process that only reads meets rows, intents and backups under a key that it does not know.
    @Test(arguments: TestedPlace.allCases) func aReaderTakesUpTheNewKey(_ place: TestedPlace) async throws {
        for look in 0..<6 {
            let populated = try await Populated(place)
            let store = populated.store
            try await populated.openIntent(store, 0)
            let backup = BackupRecord(
                handle: .random(), madeAt: populated.vault.now, auditSequence: 1, byteCount: 1, path: "/backup",
                recipients: [], finishedAt: populated.vault.now)
            _ = try await store.write { try $0.note(backup) }
            let stale = try populated.vault.open()
            defer { stale.close() }
            try await store.replaceAuditKey()
            try await populated.write(3)
            let since = try await stale.auditHead() - 3
            switch look {
            case 0: #expect(try await stale.openIntents(after: nil, limit: 10).intents.count == 1)
            case 1: #expect(try await stale.login(populated.logins[0]).intent?.owner == 7)
            case 2:
                let backups = try await stale.read { reader throws(StoreError) in try reader.backups() }
                #expect(backups.map(\.record) == [backup])
            case 3:
                let entries = try await stale.auditEntries(after: 0, limit: 1_000)
                #expect(entries.allSatisfy { $0.damage == nil } && entries.contains { $0.pruning != nil })
            case 4:
                let rows = try await stale.audit(AuditFilter(), .after(since), limit: 10).rows
                #expect(rows.count == 3 && rows.allSatisfy { $0.entry.damage == nil })
            default: try await Self.expectWhole(stale)
            }
            #expect(stale.context.keyring.formerAuditKeys.count == 1)
        }
    }

    @Test(arguments: TestedPlace.allCases) func aFormerKeyGoesWithItsLastRow(_ place: TestedPlace) async throws {
        let populated = try await Populated(place, users: 3)
        let store = populated.store
        try await populated.write(20)
        try await populated.prune()
        let kept = try await store.trailPruning()
        #expect(kept.kept > 0)
        try await store.replaceAuditKey()
        // Which rows have stayed is said under the new key from now on.
        let told = try await store.trailPruning()
        #expect(told.kept == kept.kept && told.through == kept.through && told.link == kept.link)
        #expect(told.keptMarks != kept.keptMarks)
        try await Self.expectWhole(store)
        try await populated.write(20)
        try await store.replaceAuditKey()
        try await populated.write(20)
        let second = store.context.keyring.formerAuditKeys[1].key.id
        try await populated.prune()
        try await Self.expectWhole(store)
        // The making of the vault keeps the first one; of the second no row is left.
        let keyring = store.context.keyring
        #expect(keyring.formerAuditKeys.count == 1 && keyring.formerAuditKeys.first?.key.id != second)
        let retired = try await store.auditEntries(after: 0, limit: 1_000).filter { $0.kind == .auditKeyReplaced }
        #expect(retired.contains { $0.value("phase") == "retired" && $0.value("key") == Base32.encode(second.bytes) })
        // The parts of those that stay are as they were.
        try await store.replaceAuditKey()
        try await populated.write(20)
        try await populated.prune()
        try await Self.expectWhole(store)
        let fresh = try populated.vault.open()
        defer { fresh.close() }
        try await Self.expectWhole(fresh)
    }

    /// With the former key, and write access to the file.
    @Test(arguments: TestedPlace.allCases) func theFormerKeyForgesNothingUnnoticed(_ place: TestedPlace) async throws {
        for isPruned in [false, true] {
            let populated = try await Populated(place)
            let store = populated.store
            if isPruned {
                try await populated.write(20)
                try await populated.prune()
            }
            let former = store.context.keyring
            try await store.replaceAuditKey()
            try await populated.write(3)
            try await Self.expectWhole(store)
            let rows = try await store.audit(AuditFilter(), .after(0), limit: 1_000).rows
            let through = try #require(store.context.keyring.formerAuditKeys.first?.through)
            // The end of the trail is known to every process that has written it.
            for row in rows.dropLast() {
                let original = try await store.write { try Self.forge(row.entry.sequence, former, $0) }
                let isOld = row.entry.sequence <= through
                let findings = try await store.verify().findings
                #expect(!findings.isEmpty, "row \(row.entry.sequence), \(isOld ? "under" : "after") the former key")
                try await store.write { try Self.put(original, row.entry.sequence, $0) }
            }
            try await Self.expectWhole(store)
        }
    }

    /// A row that says what it did not say, with the link that the former key makes for it.
    private static func forge(
        _ sequence: Int64, _ former: Keyring, _ transaction: WriteTransaction
    ) throws -> (time: Int64, mac: [UInt8]) {
        let row = try transaction.tables.cursor(.auditRow)
        row.bind(1, sequence)
        let isThere = try row.step()
        try #require(isThere)
        let original = (row.integer(1), row.bytes(8))
        let previous: AuditMAC? = row.isNull(9) ? nil : unsafe AuditMAC(row.blob(9))
        var columns = AuditColumns(row)
        columns.time = Timestamp(milliseconds: columns.time.milliseconds + 1)
        let tag = row.isNull(7) ? nil : unsafe try SealedCell.tag(of: row.blob(7))
        row.reset()
        let before = try #require(
            previous ?? (sequence == 1 ? .genesis : try Self.link(of: sequence - 1, transaction)))
        let link = columns.link(transaction.context.vaultID, former, previous: before, detailTag: tag)
        try put((columns.time.milliseconds, link.array), sequence, transaction)
        return original
    }

    private static func link(of sequence: Int64, _ transaction: WriteTransaction) throws -> AuditMAC? {
        let row = try transaction.tables.cursor(.auditLink)
        defer { row.reset() }
        row.bind(1, sequence)
        return try row.step() ? unsafe AuditMAC(row.blob(0)) : nil
    }

    private static func put(
        _ value: (time: Int64, mac: [UInt8]), _ sequence: Int64, _ transaction: WriteTransaction
    ) throws {
        let update = try transaction.tables.cursor(.forgeRow)
        update.bind(1, sequence)
        update.bind(2, value.time)
        update.bind(3, value.mac)
        try update.run()
    }

    /// What is not as it was left must not become whole by a replacement.
    @Test(arguments: TestedPlace.allCases) func damageOutlastsAReplacement(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        try await populated.write(20)
        try await populated.prune()
        let through = try await store.trailPruning().through
        let rows = try await store.auditEntries(after: 0, limit: 1_000).filter { $0.sequence <= through }
        let victim = try #require(rows.dropFirst().first?.sequence)
        try await store.write { try Self.remove(victim, $0) }
        #expect(try await !store.verify().isClean)
        try await store.replaceAuditKey()
        #expect(try await store.verify().findings.contains { $0.problem.contains("not those that its pruning left") })
    }

    private static func remove(_ sequence: Int64, _ transaction: WriteTransaction) throws {
        let delete = try transaction.tables.cursor(.removeRow)
        delete.bind(1, sequence)
        try delete.run()
    }

    /// The rows that have stayed are looked at while others write; what is pruned meanwhile is noticed.
    @Test(arguments: TestedPlace.allCases) func aPruningInBetweenIsNoticed(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let store = populated.store
        try await populated.write(20)
        let new = try SealingKey.generate()
        let marks = try await store.survey { try $0.keptMarks(under: new) }
        try await populated.prune()
        #expect(try await store.write { try !$0.replaceAuditKey(by: new, marks) })
        #expect(try await store.auditKeyStatus().formerKeys == 0)
        #expect(try await store.write { try $0.replaceAuditKey(by: new, nil) })
        try await Self.expectWhole(store)
    }

    @Test(arguments: TestedPlace.allCases) func othersReadAndWriteMeanwhile(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let other = try populated.vault.open()
        defer { other.close() }
        let isDone = Mutex(false)
        let count = Mutex(0)
        async let work: Void = {
            defer { isDone.withLock { $0 = true } }
            while !isDone.withLock({ $0 }) {
                let round = count.withLock { $0 } % populated.logins.count
                try await populated.openIntent(other, round)
                #expect(try await other.login(populated.logins[round]).intent != nil)
                try await other.updateLogin(populated.logins[round]) { state in
                    state.intent = nil
                    state.auditEvents = [AuditEvent(.renewalFailed)]
                }
                let page = try await other.audit(AuditFilter(), .before(.max), limit: 20)
                #expect(page.rows.allSatisfy { $0.entry.damage == nil })
                count.withLock { $0 += 1 }
                await Task.yield()
            }
        }()
        for round in 0..<10 {
            let before = count.withLock { $0 }
            while count.withLock({ $0 }) == before, !isDone.withLock({ $0 }) { await Task.yield() }
            try await populated.store.replaceAuditKey()
            if round % 3 == 0 { try await populated.prune(keeping: 10) }
            try await Self.expectWhole(populated.store)
        }
        isDone.withLock { $0 = true }
        try await work
        for reader in [other, populated.store] { try await Self.expectWhole(reader) }
    }

    @Test func thereIsAnEndOfFormerKeys() async throws {
        let populated = try await Populated(.memory)
        for _ in 0..<Keyring.mostFormerAuditKeys { try await populated.store.replaceAuditKey() }
        try await Self.expectWhole(populated.store)
        let error = await #expect(throws: StoreError.self) { try await populated.store.replaceAuditKey() }
        #expect(error?.code == .conflict && error?.hint?.contains("audit prune") == true)
        try await Self.expectWhole(populated.store)
    }

    // MARK: Witnesses

    /// A note is under the key of the row that it names, whoever wrote it.
    @Test(arguments: TestedPlace.allCases) func aWitnessGoesOnUnderTheNewKey(_ place: TestedPlace) async throws {
        let populated = try await Populated(place)
        let directory = try PrivateDirectory()
        let file = WitnessFile(directory.file("note"))
        let alarms = Mutex<[StoreError]>([])
        let uptime = Mutex(Duration.zero)
        func open() async throws -> WitnessedStore {
            try await WitnessedStore(
                try populated.vault.open(),
                WitnessedStore.Terms(
                    witness: file, everyCommit: true, begins: true, uptime: { uptime.withLock { $0 } }, pause: { _ in },
                    alarm: { error in alarms.withLock { $0.append(error) } }))
        }
        let (one, two) = (try await open(), try await open())
        try await populated.write(1, one)
        let old = try #require(try file.text(one.context))
        try await one.replaceAuditKey()
        try await populated.write(1, one)
        // The other one knows the former key alone.
        uptime.withLock { $0 += .seconds(5) }
        try await populated.write(2, two)
        uptime.withLock { $0 += .seconds(5) }
        try await populated.write(2, one)
        #expect(alarms.withLock { $0 } == [])
        #expect(try await file.read(one.context)?.position.sequence == one.auditHead())
        for store in [one, two] { await store.shutDown() }
        // A note from before is one of the trail that goes on.
        try Data(old.utf8).write(to: URL(filePath: file.path))
        let again = try await open()
        // With the former key nobody can write one about rows after it.
        let note = try await again.read { reader throws(StoreError) in try reader.witnessNote() }
        let former = try #require(again.context.keyring.formerAuditKeys.first)
        let lines = note.text(again.context).split(separator: "\n", omittingEmptySubsequences: false)
        let statement = lines.prefix(4).joined(separator: "\n") + "\n"
        let keyring = try Keyring.generate().replacingAuditKey(by: former.key, after: 0, at: 1)
        let mac = keyring.witnessMAC(of: Array(statement.utf8), upTo: note.position.sequence)
        let forged = statement + "\n\u{2014} " + Base64.encode(mac.array) + "\n"
        #expect(throws: StoreError.self) { try WitnessNote(forged, again.context) }
        await again.shutDown()
    }
}

extension Query {
    fileprivate static let forgeRow = update(
        .audit, "time", "mac", first: 2, where: [.equal(Table.audit["sequence"], 1)])

    fileprivate static let removeRow = delete(from: .audit, where: [.equal(Table.audit["sequence"], 1)])
}
