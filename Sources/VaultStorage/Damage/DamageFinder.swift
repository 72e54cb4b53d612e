import VaultCrypto

/// Looks for rows that cannot be opened, on a reader's connection or the writer's. One look decides everywhere: what is
/// listed can be shown and discarded, and nothing else can.
struct DamageFinder {
    /// Rows that are found by one statement.
    private static let pageSize: Int64 = 256

    let connection: Connection
    let opener: RowOpener

    /// In the order of the tables and of the rows in each; logins without a row come last.
    func all(limit: Int) throws(StoreError) -> [DamagedRow] {
        var found: [DamagedRow] = []
        for table in DamagedRow.Table.allCases {
            try eachRow(of: table) { id throws(StoreError) in
                guard found.count < limit else { return false }
                if let row = try check(.row(table, id: id)) { found.append(row) }
                return true
            }
        }
        try eachRow(of: .user) { id throws(StoreError) in
            guard found.count < limit else { return false }
            for login in try missingLogins(ofUserRow: id).prefix(limit - found.count) {
                if let row = try check(.missingLogin(login, userRow: id)) { found.append(row) }
            }
            return true
        }
        return found
    }

    /// The damaged row of this name.
    func find(_ name: DamagedRowName) throws(StoreError) -> DamagedRow {
        switch name {
        case .row(let table, let id):
            guard try exists(table, id) else { throw .notFound(.damagedRow) }
            guard let row = try check(.row(table, id: id)) else { throw .isWhole(name) }
            return row
        case .handle(let handle):
            var isThere = false
            for table in DamagedRow.Table.allCases {
                guard let id = try rowID(of: handle, in: table) else { continue }
                if let row = try check(.row(table, id: id)) { return row }
                isThere = true
            }
            if let row = try missingLogin(LoginHandle(handle)) { return row }
            throw isThere ? .isWhole(name) : .notFound(.damagedRow)
        }
    }

    /// What is wrong there; `nil` if nothing is, or if there is no longer anything.
    func check(_ place: DamagedRow.Place) throws(StoreError) -> DamagedRow? {
        switch place {
        case .row(let table, let id):
            switch table {
            case .provider: try checkProvider(id)
            case .user: try checkUser(id)
            case .login: try checkLogin(id)
            case .loginSecret, .refreshIntent: try checkOrphan(table, id)
            case .outbox: try checkOutboxEntry(id)
            case .authorizationRequest: try checkAuthorizationRequest(id)
            case .unusableReply: try checkUnusableReply(id)
            }
        case .missingLogin(let login, let userRow): try checkMissing(login, userRow)
        }
    }

    // MARK: Rows

    /// Until `body` says that it is enough. No statement stays open meanwhile: this may take long.
    private func eachRow(
        of table: DamagedRow.Table, _ body: (Int64) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let page = try Statement(connection, table.pageSQL)
        var first: Int64? = .min
        while let start = first {
            page.bind(1, start)
            page.bind(2, Self.pageSize)
            var ids: [Int64] = []
            do {
                defer { page.reset() }
                while try page.step() { ids.append(page.integer(0)) }
            }
            if BlockingWork.isCancelled { throw StoreError(.closed, "the look for damage was ended") }
            for id in ids { guard try body(id) else { return } }
            guard Int64(ids.count) == Self.pageSize, let last = ids.last, last < .max else { return }
            first = last + 1
        }
    }

    private func exists(_ table: DamagedRow.Table, _ id: Int64) throws(StoreError) -> Bool {
        let row = try Statement(connection, "SELECT 1 FROM \(table.rawValue) WHERE \(table.idColumn) = ?1")
        row.bind(1, id)
        return try row.step()
    }

    private func rowID(of handle: Bytes16, in table: DamagedRow.Table) throws(StoreError) -> Int64? {
        guard let column = table.handleColumn else { return nil }
        let row = try Statement(
            connection, "SELECT \(table.idColumn) FROM \(table.rawValue) WHERE \(column) = ?1")
        row.bind(1, handle)
        return try row.step() ? row.integer(0) : nil
    }

    private func missingLogin(_ login: LoginHandle) throws(StoreError) -> DamagedRow? {
        var found: DamagedRow?
        try eachRow(of: .user) { id throws(StoreError) in
            found = try checkMissing(login, id)
            return found == nil
        }
        return found
    }
}

extension DamagedRow.Table {
    /// By which the rows are numbered.
    var idColumn: String {
        switch self {
        case .loginSecret: "login"
        case .refreshIntent: "fence"
        default: "id"
        }
    }

    var handleColumn: String? {
        switch self {
        case .loginSecret, .refreshIntent: nil
        case .authorizationRequest: "stateIndex"
        default: "handle"
        }
    }

    /// Rows that may be damaged, from a number on.
    fileprivate var pageSQL: String {
        let orphans =
            switch self {
            case .loginSecret, .refreshIntent:
                "AND NOT EXISTS (SELECT 1 FROM login WHERE login.id = \(rawValue).login)"
            default: ""
            }
        return "SELECT \(idColumn) FROM \(rawValue) WHERE \(idColumn) >= ?1 \(orphans) ORDER BY \(idColumn) LIMIT ?2"
    }
}

extension Reader {
    var damage: DamageFinder { DamageFinder(connection: connection, opener: opener) }
}

extension WriteTransaction {
    var damage: DamageFinder { DamageFinder(connection: connection, opener: opener) }
}
