import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// Every cell of a vault in the place of every other one, and every cell of another vault in its place.
@Suite struct CellSwapTests {
    @Test func noCellIsTakenInAnotherPlace() async throws {
        let history = try await VaultImage.history()
        let stranger = try await VaultImage.makeHistory()
        let vault = try history.current.layOut()
        let store = try vault.open()
        defer { store.close() }
        let database = try RawDatabase(vault.path)
        let cells = try PlacedCell.all(in: database, history.baseline)
        let foreign = try PlacedCell.all(in: RawDatabase(of: stranger.current.layOut()), stranger.baseline)

        var swaps = 0
        for (index, first) in cells.enumerated() {
            for second in cells[(index + 1)...] {
                try first.put(second.cell, in: database)
                try second.put(first.cell, in: database)
                for victim in [first, second] where await !victim.isRefused(store, vault) {
                    Issue.record("\(first) and \(second) were exchanged, and \(victim) was taken")
                }
                try first.put(first.cell, in: database)
                try second.put(second.cell, in: database)
                swaps += 1
            }
        }
        var pasted = 0
        for place in cells {
            for other in foreign {
                try place.put(other.cell, in: database)
                if await !place.isRefused(store, vault) {
                    Issue.record("\(other) of another vault was taken for \(place)")
                }
                pasted += 1
            }
            try place.put(place.cell, in: database)
        }
        print("swaps: \(cells.count) cells, \(swaps) exchanges in one vault and \(pasted) with another, all refused")
        #expect(cells.count >= 40)
        let readings = await Readings(of: store, expecting: history.baseline)
        for (key, before) in history.baseline.all { #expect(readings.all[key] == before, "\(key)") }
        #expect(try await store.verify().isClean)
    }
}

/// A cell, where it stands, and the read that opens it there.
private struct PlacedCell: CustomStringConvertible {
    enum Touch {
        case opening
        case user(String)
        case login(LoginHandle)
        case provider(ProviderHandle)
        case outbox(OutboxHandle)
        case request(SecretBytes)
        case audit(Int64)
    }

    let table: String
    let column: String
    let row: Int64
    let cell: RawDatabase.Value
    let touch: Touch

    var description: String { "\(table).\(column) of row \(row)" }

    /// All session, refresh, key and user cells, those under a root key, the keyring, the slot that is used, and some
    /// of the audit details.
    static func all(in database: RawDatabase, _ baseline: Readings) throws -> [PlacedCell] {
        var result: [PlacedCell] = []
        func add(_ table: String, _ column: String, _ query: String, _ touch: ([RawDatabase.Value]) throws -> Touch?)
            throws
        {
            for row in try database.run(query) {
                guard case .integer(let id) = row[0], let touch = try touch(row) else { continue }
                result.append(PlacedCell(table: table, column: column, row: id, cell: row[1], touch: touch))
            }
        }
        func bytes(_ value: RawDatabase.Value) throws -> Bytes16 {
            guard case .blob(let blob) = value else { throw RawDatabase.Refusal(code: 0, message: "no handle") }
            return try #require(Bytes16(blob))
        }
        try add("user", "cell", "SELECT id, cell FROM user") { row in
            guard case .integer(let id) = row[0] else { return nil }
            return .user(SampleVault.userIds[Int(id) - 1])
        }
        try add("login", "cell", "SELECT id, cell, handle FROM login") { .login(LoginHandle(try bytes($0[2]))) }
        for column in ["refreshCell", "keyCell"] {
            let query = "SELECT id, loginSecret.\(column), handle FROM loginSecret JOIN login ON id = login"
            try add("loginSecret", column, query) { .login(LoginHandle(try bytes($0[2]))) }
        }
        try add("provider", "cell", "SELECT id, cell, handle FROM provider") {
            .provider(ProviderHandle(try bytes($0[2])))
        }
        try add("outbox", "cell", "SELECT id, cell, handle FROM outbox") { .outbox(OutboxHandle(try bytes($0[2]))) }
        try add("authorizationRequest", "cell", "SELECT id, cell FROM authorizationRequest") { row in
            guard case .integer(let id) = row[0] else { return nil }
            return .request(SampleVault.requestStates[Int(id) - 1])
        }
        let details =
            "SELECT sequence, detailCell FROM audit WHERE detailCell IS NOT NULL ORDER BY sequence DESC LIMIT 4"
        try add("audit", "detailCell", details) { row in
            guard case .integer(let id) = row[0] else { return nil }
            return .audit(id)
        }
        try add("vault", "keyringCell", "SELECT id, keyringCell FROM vault") { _ in .opening }
        try add("keySlot", "cell", "SELECT id, cell FROM keySlot ORDER BY id LIMIT 1") { _ in .opening }
        return result
    }

    func put(_ value: RawDatabase.Value, in database: RawDatabase) throws {
        let key = table == "audit" ? "sequence" : table == "loginSecret" ? "login" : "id"
        try database.run("UPDATE \(table) SET \(column) = ? WHERE \(key) = ?", [value, .integer(row)])
    }

    /// Whether the read that needs the cell says that it is not the one that belongs here.
    func isRefused(_ store: SQLiteVaultStore, _ vault: VaultFixture) async -> Bool {
        do {
            switch touch {
            case .opening: try vault.open().close()
            case .user(let id): _ = try await store.user(id)
            case .login(let handle): _ = try await store.login(handle)
            case .provider(let handle): _ = try await store.provider(handle)
            case .outbox(let handle): _ = try await store.outboxEntry(handle)
            case .request(let state): _ = try await store.takeAuthorizationRequest(.unbound(state))
            case .audit(let sequence):
                // The trail ends before a last row that does not continue it.
                return try await store.auditEntries(after: sequence - 1, limit: 1).first.map { $0.damage != nil }
                    ?? true
            }
            return false
        } catch let error as StoreError {
            return TamperingJudge.isNamed(error)
        } catch {
            return false
        }
    }
}
