import Foundation
import Testing
import VaultCrypto
import VaultMigrations

@testable import TokenVaultTesting
@testable import VaultStorage

/// Another process commits between two queries of one reading, on an engine whose queries each see what was committed
/// last.
@Suite struct TornReadTests {
    enum Change: CaseIterable {
        case newIndexKey, twoNewIndexKeys, newProvider, newVaultKey

        func make(_ store: any VaultStore, _ provider: ProviderHandle) async throws {
            switch self {
            case .newIndexKey: #expect(try await store.replaceIndexKey { _, _ in }.isComplete)
            case .twoNewIndexKeys: for _ in 0..<2 { try await Self.newIndexKey.make(store, provider) }
            case .newProvider:
                var record = try await store.provider(provider).record
                record.clientID += "'s"
                _ = try await store.putProvider(record, replacing: provider)
            case .newVaultKey: try await store.rekey(try await store.planRekey(provenBy: []))
            }
        }
    }

    enum Reading: CaseIterable {
        case byHandle, byName, list

        func callAsFunction(_ reader: Reader, _ provider: ProviderHandle) throws -> [StoredProvider] {
            switch self {
            case .byHandle: [try reader.provider(provider)]
            case .byName: [try reader.provider(named: "acme")]
            case .list:
                try reader.providers(after: nil, limit: 10).map { listing in
                    if let damage = listing.damage { throw damage }
                    return try #require(listing.provider)
                }
            }
        }
    }

    /// The change is committed before each of the queries in turn.
    @Test(arguments: Change.allCases, Reading.allCases)
    func aProviderIsReadAsOfOneMoment(_ change: Change, _ reading: Reading) async throws {
        for isBehind in [false, true] { try await check(change, reading, isBehind) }
    }

    /// - Parameter isBehind: Whether there was a change before that the reader has not seen yet.
    private func check(_ change: Change, _ reading: Reading, _ isBehind: Bool) async throws {
        for place in 0..<16 {
            let vault = try TestedStore(.memory)
            let store = try #require(vault.store as? MemoryVaultStore)
            let database = store.vault.database
            let provider = try await store.putProvider(vault.provider("acme"), replacing: nil).handle
            let other = try vault.open()
            defer { other.close() }
            if isBehind { try await Change.newProvider.make(store, provider) }
            let before = database.current
            try await change.make(store, provider)
            let after = database.current
            database.current = before
            let tables = InterruptedTables(database.reader(), before: place) { database.current = after }
            let found = try reading(Reader(tables, other.context), provider)
            #expect(found.map(\.handle) == [provider], "query \(place)")
            // Where there was no such query, nothing was committed meanwhile.
            if tables.isInterrupted { continue }
            #expect(place > 1)
            return
        }
        Issue.record("a reading asks more than it should")
    }
}

/// A way to tables on which something happens before a query.
private final class InterruptedTables: TableAccess {
    private let tables: any TableAccess
    private let place: Int
    private let interrupt: () -> Void
    private var asked = 0
    private(set) var isInterrupted = false

    init(_ tables: any TableAccess, before place: Int, _ interrupt: @escaping () -> Void) {
        self.tables = tables
        self.place = place
        self.interrupt = interrupt
    }

    func cursor(_ query: Query) throws(StoreError) -> any RowCursor {
        if asked == place {
            isInterrupted = true
            interrupt()
        }
        asked += 1
        return try tables.cursor(query)
    }

    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R { try tables.snapshot(body) }

    // MARK: As they are

    var lastInsertedRow: Int64 { tables.lastInsertedRow }
    var changeCount: Int { tables.changeCount }
    var migrations: [Migration] { tables.migrations }
    var changeMark: Int64? { tables.changeMark }
    func settle() throws(StoreError) { try tables.settle() }
    func highestFence() throws(StoreError) -> Int64 { try tables.highestFence() }
    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow] {
        try tables.rawRows(of: table, where: column, is: number)
    }
    func checkSchema() throws(StoreError) { try tables.checkSchema() }
    func checkStorage(_ findings: any StorageFindings) throws(StoreError) { try tables.checkStorage(findings) }
    func facts() throws(StoreError) -> EngineFacts { try tables.facts() }
    func expectManyChanges() throws(StoreError) { try tables.expectManyChanges() }
    func isOwnerAlive(_ owner: Int64) -> Bool { tables.isOwnerAlive(owner) }
    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R { try tables.longReading(body) }
}
