import Testing
import VaultSQLite
import VaultStorage

/// Every column of every table, changed in seven ways behind the store's back.
@Suite struct ColumnTamperingTests {
    /// Columns on which nothing hangs; `docs/vault-format.md` says why each of them may be changed unnoticed.
    static let advisory: Set = [
        "migration.appliedAt", "migration.auditSequence", "provider.id", "keySlot.id", "authorizationRequest.id",
        "outbox.id", "unusableReply.id", "provider.nameIndex", "walMark.mark", "walMark.previous",
        "walMark.schemaCookie", "untoldFailure.login", "backup.id", "observer.id",
    ]

    static let tables = [
        "vault", "keySlot", "provider", "user", "migration", "login", "loginSecret", "refreshIntent",
        "unusableReply", "authorizationRequest", "outbox", "audit", "walMark", "untoldFailure", "backup",
        "observer",
    ]

    @Test(arguments: tables) func everyChangeIsNoticed(table: String) async throws {
        let history = try await VaultImage.history()
        let judge = TamperingJudge(history: history) { reading in
            switch table {
            // The list of audit rows shows what stands there; the chain is checked as a whole by `verify`.
            case "audit": reading.hasPrefix("audit ")
            // An intent that is taken from its login is missing there; only `verify` sees what hangs on nothing.
            case "refreshIntent": reading.hasPrefix("login ") || reading.hasPrefix("listed login ")
            // What a slot says of itself is known to be true only to its own key.
            case "keySlot": reading == "key slots"
            // A step of which the trail seems not to have told is told again.
            case "migration": reading.hasPrefix("audit ")
            default: false
            }
        }
        var tally = Tally()
        for change in try TamperedRow.all(of: table, in: history) {
            let vault = try history.current.layOut()
            guard let affected = try change.apply(to: vault, tally: &tally) else { continue }
            var verdict = await judge.judge(
                vault, affected: affected.users, takesRequests: table == "authorizationRequest")
            if table == "keySlot", verdict == .unseen, (try? vault.open(with: vault.spareKeyFile).close()) == nil {
                verdict = .seenAtTouch
            }
            tally.add(verdict)
            if verdict == .unseen, Self.advisory.contains("\(table).\(change.column)") { continue }
            switch verdict {
            case .refusedAtOpening, .seenAtTouch, .seenByVerify: break
            case .unseen, .wrong, .spread: Issue.record("\(change): \(verdict)")
            }
        }
        print("tampering \(table): \(tally)")
        #expect(tally.changes > 0)
    }

    struct Tally: CustomStringConvertible {
        var changes = 0
        var refusedBySchema = 0
        var impossible = 0
        private var verdicts: [TamperingVerdict: Int] = [:]

        mutating func add(_ verdict: TamperingVerdict) {
            changes += 1
            verdicts[verdict, default: 0] += 1
        }

        var description: String {
            """
            \(changes) changes, \(refusedBySchema) of them against the schema and \(impossible) more impossible: \
            \(verdicts[.refusedAtOpening] ?? 0) refused at opening, \(verdicts[.seenAtTouch] ?? 0) at the touch, \
            \(verdicts[.seenByVerify] ?? 0) only by verify, \(verdicts[.unseen] ?? 0) unseen
            """
        }
    }
}

/// One value of one row, and what it becomes.
struct TamperedRow: CustomStringConvertible {
    /// Tables of which a change concerns the vault as a whole.
    private static let vaultTables: Set = ["vault", "keySlot", "migration", "walMark"]

    let table: String
    let column: String
    let row: Int64
    let mutation: ColumnMutation
    let value: RawDatabase.Value

    var description: String { "\(table).\(column) of row \(row), \(mutation)" }

    /// All changes to the first and the last row of a table.
    static func all(of table: String, in history: VaultImage.History) throws -> [TamperedRow] {
        let current = try RawDatabase(of: history.current.layOut())
        let older = try RawDatabase(of: history.older.layOut())
        let columns = try current.run("SELECT name FROM pragma_table_info('\(table)')").compactMap(\.first)
        let rows = try current.run("SELECT rowid FROM \(table) ORDER BY rowid").compactMap(\.first)
        var result: [TamperedRow] = []
        for row in Set([rows.first, rows.last].compactMap { $0 }) {
            guard case .integer(let id) = row else { continue }
            let other = rows.first { $0 != row }
            for case .text(let bytes) in columns {
                let column = String(decoding: bytes, as: UTF8.self)
                func value(_ database: RawDatabase, _ row: RawDatabase.Value) throws -> RawDatabase.Value? {
                    try database.run("SELECT \(column) FROM \(table) WHERE rowid = ?", [row]).first?.first
                }
                guard let present = try value(current, row) else { continue }
                let another = try other.flatMap { try value(current, $0) }
                let earlier = try value(older, row)
                for mutation in ColumnMutation.allCases {
                    if let changed = mutation.value(for: present, otherRow: another, older: earlier) {
                        result.append(
                            TamperedRow(table: table, column: column, row: id, mutation: mutation, value: changed))
                    }
                }
            }
        }
        return result
    }

    struct Affected {
        /// `nil`: everybody may be.
        let users: Set<String>?
    }

    /// Makes the change, also against the schema's constraints; `nil` if not even that is possible.
    func apply(to vault: VaultFixture, tally: inout ColumnTamperingTests.Tally) throws -> Affected? {
        let database = try RawDatabase(vault.path)
        var users = try owners(in: database)
        let sql = "UPDATE \(table) SET \(column) = ? WHERE rowid = ?"
        do {
            try database.run(sql, [value, .integer(row)])
        } catch is RawDatabase.Refusal {
            do {
                try database.withoutConstraints { try database.run(sql, [value, .integer(row)]) }
                tally.refusedBySchema += 1
            } catch is RawDatabase.Refusal {
                tally.impossible += 1
                return nil
            }
        }
        users.formUnion(try owners(in: database))
        return Affected(users: Self.vaultTables.contains(table) ? nil : users)
    }

    /// The users that own the row. Users are numbered in the order of the sample.
    private func owners(in database: RawDatabase) throws -> Set<String> {
        let sql: String? =
            switch table {
            case "user": "SELECT rowid FROM user WHERE rowid = ?"
            case "login": "SELECT user FROM login WHERE rowid = ?"
            case "loginSecret": "SELECT user FROM login WHERE id = ?"
            case "refreshIntent":
                "SELECT user FROM login WHERE id = (SELECT login FROM refreshIntent WHERE fence = ?)"
            case "unusableReply": "SELECT user FROM login WHERE id = (SELECT login FROM unusableReply WHERE id = ?)"
            default: nil
            }
        guard let sql else { return [] }
        return Set(
            try database.run(sql, [.integer(row)]).compactMap { columns in
                guard case .integer(let id)? = columns.first else { return nil }
                return SampleVault.userIds.indices.contains(Int(id) - 1) ? SampleVault.userIds[Int(id) - 1] : nil
            })
    }
}
