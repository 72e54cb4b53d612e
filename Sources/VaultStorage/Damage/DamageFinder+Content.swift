import VaultCrypto

extension DamageFinder {
    func content(of row: DamagedRow) throws(StoreError) -> DamagedRowContent {
        DamagedRowContent(row: row, rows: try rows(at: row.place))
    }

    /// The row and the rows that would be discarded with it.
    func rows(at place: DamagedRow.Place) throws(StoreError) -> [RawRow] {
        switch place {
        case .missingLogin: []
        case .row(.user, let id): try rows(ofUser: id)
        case .row(.login, let id): try rows(ofLogin: id)
        case .row(.manifestPart, let id): try rows(ofPart: id)
        case .row(.fenceCounter, _): try fenceRows()
        case .row(let table, let id): try tables.rawRows(of: table.table, where: table.table.key, is: id)
        }
    }

    private func rows(ofUser id: Int64) throws(StoreError) -> [RawRow] {
        var rows = try tables.rawRows(of: .user, where: "id", is: id)
        for login in try tables.loginRows(ofUserRow: id) { rows += try self.rows(ofLogin: login.row) }
        var parts: [Int64] = []
        try opener.eachPartRow(ofUserRow: id) { _, row in parts.append(row.integer(0)) }
        for part in parts { rows += try tables.rawRows(of: .manifestPart, where: "id", is: part) }
        return rows
    }

    private func rows(ofPart id: Int64) throws(StoreError) -> [RawRow] {
        var rows = try tables.rawRows(of: .manifestPart, where: "id", is: id)
        for login in try loginRows(ofPart: id) ?? [] { rows += try self.rows(ofLogin: login.row) }
        return rows
    }

    private func rows(ofLogin id: Int64) throws(StoreError) -> [RawRow] {
        var rows = try tables.rawRows(of: .login, where: "id", is: id)
        for table in [Table.loginSecret, .refreshIntent, .unusableReply] {
            rows += try tables.rawRows(of: table, where: "login", is: id)
        }
        return rows
    }
}
