import Foundation
import Testing
import VaultCrypto

@testable import VaultStorage

@Suite(.serialized)
struct TamperingTests {
    static let tables = [
        "vault", "keySlot", "provider", "user", "migration", "login", "loginSecret", "refreshIntent",
        "authorizationRequest", "outbox", "audit",
    ]

    /// `docs/vault-format.md` says why each of these may be changed unnoticed.
    static let advisoryColumns: Set<String> = [
        "migration.appliedAt", "provider.id", "keySlot.id", "authorizationRequest.id", "outbox.id",
    ]

    private func columns(_ table: String, _ fixture: VaultFixture) throws -> [String] {
        let connection = try Connection(path: fixture.path)
        return try withExtendedLifetime(connection) {
            let rows = try Statement(connection, "SELECT name FROM pragma_table_info('\(table)')")
            var names: [String] = []
            while try rows.step() { names.append(rows.text(0)) }
            return names
        }
    }

    private func mutations(_ column: String, _ table: String) -> [String] {
        let changed = "\(column) IS NOT (SELECT \(column) FROM \(table) ORDER BY rowid LIMIT 1)"
        return [
            "NULL", "x''", "0", "''", "\(column) + 1", "9223372036854775807", "CAST(\(column) || x'00' AS BLOB)",
            "(SELECT \(column) FROM \(table) WHERE \(changed) LIMIT 1)", "zeroblob(length(\(column)))",
        ]
    }

    @Test func everyChangeOfAColumnIsNoticed() async throws {
        let vault = try await PopulatedVault()
        #expect(try vault.verdict() == .unnoticed, "the untouched vault must be clean")
        var counts: [PopulatedVault.Verdict: Int] = [:]
        var refused = 0
        var advisory: Set<String> = []
        for table in Self.tables {
            for column in try columns(table, vault.fixture) {
                for value in mutations(column, table) {
                    try vault.restore()
                    let before = try vault.fixture.bytes("SELECT quote(\(column)) FROM \(table) ORDER BY rowid LIMIT 1")
                    let row = "rowid = (SELECT min(rowid) FROM \(table))"
                    do {
                        try vault.fixture.edit("UPDATE \(table) SET \(column) = \(value) WHERE \(row)")
                    } catch {
                        refused += 1
                        continue
                    }
                    let column = "\(table).\(column)"
                    let after = try vault.fixture.bytes(
                        "SELECT quote(\(column)) FROM \(table) ORDER BY rowid LIMIT 1")
                    if before == after && !column.hasSuffix("id") { continue }
                    let verdict = try vault.verdict()
                    counts[verdict, default: 0] += 1
                    if verdict == .unnoticed {
                        advisory.insert(column)
                        #expect(Self.advisoryColumns.contains(column), "\(column) = \(value)")
                    }
                }
            }
        }
        print(
            "tampering: \(counts[.refusedAtOpening] ?? 0) refused at opening, \(counts[.found] ?? 0) found by verify, "
                + "\(counts[.unnoticed] ?? 0) on advisory columns \(advisory.sorted()), \(refused) refused by the schema"
        )
        #expect((counts[.found] ?? 0) + (counts[.refusedAtOpening] ?? 0) > 150)
    }

    @Test(arguments: ["user", "login", "loginSecret", "provider", "audit", "keySlot", "outbox", "migration", "vault"])
    func aDeletedRowIsNoticed(table: String) async throws {
        let vault = try await PopulatedVault()
        let count = try vault.fixture.integer("SELECT count(*) FROM \(table)")
        for offset in 0..<count {
            try vault.restore()
            try vault.fixture.edit(
                "DELETE FROM \(table) WHERE rowid = (SELECT rowid FROM \(table) LIMIT 1 OFFSET \(offset))")
            #expect(try vault.verdict() != .unnoticed, "\(table) \(offset)")
        }
    }

    /// All pairs of rows and cells of logins, users and kinds.
    @Test func swappedCellsAreNoticed() async throws {
        let vault = try await PopulatedVault()
        let cells = [
            ("login", "cell"), ("loginSecret", "refreshCell"), ("loginSecret", "keyCell"), ("user", "cell"),
            ("outbox", "cell"), ("provider", "cell"), ("authorizationRequest", "cell"),
        ]
        var count = 0
        for (table, column) in cells {
            for (otherTable, otherColumn) in cells {
                let rows = try vault.fixture.integer("SELECT count(*) FROM \(otherTable)")
                for offset in 0..<rows {
                    if table == otherTable && column == otherColumn && offset == 0 { continue }
                    try vault.restore()
                    try vault.fixture.edit(
                        """
                        UPDATE \(table) SET \(column) =
                            (SELECT \(otherColumn) FROM \(otherTable) ORDER BY rowid LIMIT 1 OFFSET \(offset))
                        WHERE rowid = (SELECT min(rowid) FROM \(table))
                        """)
                    #expect(
                        try vault.verdict() == .found, "\(table).\(column) ← \(otherTable).\(otherColumn) \(offset)")
                    count += 1
                }
            }
        }
        print("swaps: \(count), all found")
    }

    @Test func damageOfOneUserLeavesTheOthersReadable() async throws {
        let vault = try await PopulatedVault()
        try vault.fixture.edit(
            "UPDATE login SET generation = generation + 1 WHERE rowid = (SELECT min(rowid) FROM login)")
        let store = try vault.fixture.open()
        let listings = try store.logins(ofUser: nil, after: nil, limit: 100)
        #expect(listings.count == 6)
        let damaged = try #require(listings.first { $0.damage != nil })
        #expect(listings.filter { $0.damage != nil }.count == 1)
        let error = #expect(throws: StoreError.self) { try store.session(.login(damaged.handle)) }
        #expect(error?.code == .quarantined(table: "login", handle: damaged.handle.text))
        await #expect(throws: StoreError.self) { try await store.updateLogin(damaged.handle) { _ in } }
        for listing in listings where listing.damage == nil {
            #expect(try store.session(.login(listing.handle)).session.accessToken != nil)
            try await store.updateLogin(listing.handle) { $0.session.label = "still works" }
        }
        let owner = try #require(
            vault.users.first { user in
                (try? store.user(user).logins.contains(damaged.handle)) ?? false
            })
        try await store.updateUser(owner) { $0.isErased = true }
        #expect(try store.verify { _ in }.findings == [])
    }
}
