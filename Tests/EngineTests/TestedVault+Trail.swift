import VaultCrypto

@testable import VaultStorage

/// What is done to the audit trail behind the vault's back, as someone does who can write to the tables.
extension TestedVault {
    /// Prunes as often as there is something to prune.
    @discardableResult
    func prune(_ limits: TrailLimits, size: Int = 7) throws -> PrunedRows {
        var all = PrunedRows()
        repeat { all += try write { try $0.prune(limits, size: size) } } while all.hasMore
        return all
    }

    func auditRow(_ sequence: Int64) throws -> RawRow? {
        try engine.reader.rawRows(of: .audit, where: Table.audit.key, is: sequence).first
    }

    func remove(_ table: Table, _ key: Int64) throws {
        try engine.write { tables in
            let delete = try tables.cursor(.deletesByNumber[table])
            delete.bind(1, key)
            try delete.run()
        }
    }

    /// Puts a row into the trail, under this number, in the place of the one that is there.
    func put(_ row: RawRow, as sequence: Int64) throws {
        try remove(.audit, sequence)
        try engine.write { tables in
            let insert = try tables.cursor(Self.insertRow)
            insert.bind(1, sequence)
            for (index, name) in Self.columns.enumerated() {
                let value = row.columns.first { $0.name == name }?.value
                let parameter = Int32(index) + 2
                switch value {
                case .integer(let number): insert.bind(parameter, number)
                case .blob(let bytes): insert.bind(parameter, bytes)
                case .text, .real, .null, nil: insert.bindNull(parameter)
                }
            }
            try insert.run()
        }
    }

    private static let columns = Table.audit.fields.map(\.name)
    private static let insertRow = Query(.insert(into: .audit, columns: ["sequence"] + columns, onConflict: .fails))

    func logins(ofUserRow user: Int64) throws -> [Int64] {
        try engine.reader.rawRows(of: .login, where: "user", is: user).compactMap { row in
            guard case .integer(let key)? = row.columns.first?.value else { return nil }
            return key
        }
    }

    /// With all rows that refer to it.
    func removeWhole(login: Int64) throws {
        try engine.write { tables in
            for table in [Table.loginSecret, .refreshIntent, .unusableReply, .unreportedFailure] {
                let delete = try tables.cursor(Self.deletesOfLogin[table])
                delete.bind(1, login)
                try delete.run()
            }
        }
        try remove(.login, login)
    }

    private static let deletesOfLogin = Query.PerTable { table in
        let column = table.keyReference != nil || table.fields.contains { $0.name == "login" } ? "login" : table.key
        return Query(.delete(from: table, where: [.equal(table[column], 1)]))
    }

    /// The last row that nothing refers to; a user with all logins.
    func takeAway(_ table: Table) throws {
        for key in try keys(of: table).reversed() {
            if table == .user { for login in try logins(ofUserRow: key) { try removeWhole(login: login) } }
            do { return try remove(table, key) } catch let error as StoreError {
                guard error.code == .conflict else { throw error }
            }
        }
        throw StoreError(.notFound(.login), "there is no row that could be taken away")
    }

    /// As a renewal begins, with its row in the trail.
    func beginRenewal() throws {
        let login = try read { try $0.logins(after: nil, limit: 1) }.first?.handle
        guard let login else { throw StoreError(.notFound(.login), "there is no login") }
        for _ in 0..<2 {
            try write { transaction in
                try transaction.updateLogin(login) { state in
                    state.openIntent(owner: 7, at: Self.now)
                    state.auditEvents = [AuditEvent(.renewalStarted)]
                }
            }
        }
        try addManyRows(3)
    }

    func addManyRows(_ count: Int) throws {
        for _ in 0..<count { try write { try $0.audit(AuditEvent(.tokenRevealed), about: AuditSubject()) } }
    }

    /// Checks everything, and lets `meanwhile` happen after each batch.
    func check(_ meanwhile: () throws -> Void) throws -> VerificationReport {
        var failure: (any Error)?
        let report = try VaultCheck(engine.reader, context).run { _ in
            do { try meanwhile() } catch { failure = error }
        }
        if let failure { throw failure }
        return report
    }
}
