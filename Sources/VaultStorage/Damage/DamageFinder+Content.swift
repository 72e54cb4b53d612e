import VaultCrypto

extension DamageFinder {
    func content(of row: DamagedRow) throws(StoreError) -> DamagedRowContent {
        DamagedRowContent(row: row, rows: try rows(at: row.place))
    }

    /// The row, and those that go with it.
    func rows(at place: DamagedRow.Place) throws(StoreError) -> [RawRow] {
        switch place {
        case .missingLogin: []
        case .row(.user, let id): try rows(ofUser: id)
        case .row(.login, let id): try rows(ofLogin: id)
        case .row(let table, let id): try rawRows(table, where: table.idColumn, is: id)
        }
    }

    private func rows(ofUser id: Int64) throws(StoreError) -> [RawRow] {
        let logins = try connection.statement(SQL.loginRowsOfUserRow)
        var ids: [Int64] = []
        do {
            defer { logins.reset() }
            logins.bind(1, id)
            while try logins.step() { ids.append(logins.integer(0)) }
        }
        var rows = try rawRows(.user, where: "id", is: id)
        for login in ids { rows += try self.rows(ofLogin: login) }
        return rows
    }

    private func rows(ofLogin id: Int64) throws(StoreError) -> [RawRow] {
        var rows = try rawRows(.login, where: "id", is: id)
        for table in [DamagedRow.Table.loginSecret, .refreshIntent, .unusableReply] {
            rows += try rawRows(table, where: "login", is: id)
        }
        return rows
    }

    private func rawRows(
        _ table: DamagedRow.Table, where column: String, is id: Int64
    ) throws(StoreError) -> [RawRow] {
        let row = try Statement(connection, "SELECT * FROM \(table.rawValue) WHERE \(column) = ?1")
        row.bind(1, id)
        var rows: [RawRow] = []
        while try row.step() { rows.append(row.rawRow(of: table.rawValue)) }
        return rows
    }
}
