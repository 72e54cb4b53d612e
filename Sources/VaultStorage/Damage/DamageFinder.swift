import VaultCrypto

/// Finds rows that cannot be opened, for a reader or the writer. The same check applies everywhere: a listed row can be
/// shown and discarded, and no other row can.
struct DamageFinder {
    /// The number of rows that one statement returns.
    private static let pageSize: Int64 = 256

    let tables: any TableAccess
    let opener: RowOpener

    /// All damage, in the order of the tables and of the rows in each. Logins and parts of manifests without a row come
    /// last.
    func all(limit: Int) throws(StoreError) -> [DamagedRow] {
        var found: [DamagedRow] = []
        for table in DamagedRow.Table.allCases where table.hasPlace {
            try eachRow(of: table) { id throws(StoreError) in
                guard found.count < limit else { return false }
                // A login whose part of the manifest does not open is listed under that part.
                if let row = try check(.row(table, id: id)), row.table == table { found.append(row) }
                return true
            }
        }
        try eachRow(of: .user) { id throws(StoreError) in
            guard found.count < limit else { return false }
            for login in try missingLogins(ofUserRow: id).prefix(limit - found.count) {
                if let row = try check(.missingLogin(login, userRow: id)) { found.append(row) }
            }
            for part in try missingParts(ofUserRow: id).prefix(limit - found.count) {
                if let row = try check(.row(.manifestPart, id: part)) { found.append(row) }
            }
            return true
        }
        return found + (try ofTrailAndCounter(limit: limit - found.count))
    }

    /// The damaged row with this name.
    func find(_ name: DamagedRowName) throws(StoreError) -> DamagedRow {
        switch name {
        case .row(let table, let id):
            if let row = try check(place(.row(table, id: id))) { return row }
            let isThere = try table == .fenceCounter ? true : exists(table, id)
            throw isThere ? .isWhole(name) : .notFound(.damagedRow)
        case .handle(let handle):
            var isThere = false
            for table in DamagedRow.Table.allCases where table.hasPlace {
                guard let id = try rowID(of: handle, in: table) else { continue }
                if let row = try check(.row(table, id: id)) { return row }
                isThere = true
            }
            if let row = try missingLogin(LoginHandle(handle)) { return row }
            throw isThere ? .isWhole(name) : .notFound(.damagedRow)
        }
    }

    /// The damage at a place; `nil` if there is none, or if the row no longer exists.
    func check(_ place: DamagedRow.Place) throws(StoreError) -> DamagedRow? {
        let found = try look(at: place)
        guard found != nil, !opener.reading.isInSnapshot else { return found }
        // The first finding may combine data of two moments.
        opener.reading.isTorn = false
        opener.reading.isInSnapshot = true
        defer { opener.reading.isInSnapshot = false }
        return try tables.snapshot { () throws(StoreError) in try look(at: place) }
    }

    private func look(at place: DamagedRow.Place) throws(StoreError) -> DamagedRow? {
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
            case .manifestPart: try checkManifestPart(id)
            case .observer: try checkObserver(id)
            case .audit: try checkAudit(id)
            case .fenceCounter: try checkFences(id)
            }
        case .missingLogin(let login, let userRow): try checkMissing(login, userRow)
        }
    }

    // MARK: Rows

    /// Calls `body` with each row until it returns false. No result set stays open between pages, because this may take
    /// long.
    func eachRow(
        of table: DamagedRow.Table, from start: Int64 = .min, _ body: (Int64) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let page = try tables.cursor(table.needsLogin ? .pagesWithLogin[table.table] : .numbersFrom[table.table])
        var first: Int64? = start
        while let start = first {
            page.bind(1, start)
            page.bind(2, Self.pageSize)
            var ids: [Int64] = []
            var last: Int64?
            var count: Int64 = 0
            do {
                defer { page.reset() }
                while try page.step() {
                    count += 1
                    last = page.integer(0)
                    if !table.needsLogin || page.isNull(1) { ids.append(page.integer(0)) }
                }
            }
            if BlockingWork.isCancelled { throw StoreError(.closed, "the search for damage was cancelled") }
            for id in ids { guard try body(id) else { return } }
            guard count == Self.pageSize, let last, last < .max else { return }
            first = last + 1
        }
    }

    private func exists(_ table: DamagedRow.Table, _ id: Int64) throws(StoreError) -> Bool {
        try tables.has(.rowsByNumber[table.table], id)
    }

    private func rowID(of handle: Bytes16, in table: DamagedRow.Table) throws(StoreError) -> Int64? {
        guard !table.needsLogin, table != .manifestPart, table != .observer else { return nil }
        let row = try tables.cursor(.rowsByHandle[table.table])
        return try row.withBinding(1, handle) { () throws(StoreError) in
            try row.step() ? row.integer(0) : nil
        }
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
    var table: Table {
        switch self {
        case .provider: .provider
        case .user: .user
        case .login: .login
        case .loginSecret: .loginSecret
        case .refreshIntent: .refreshIntent
        case .outbox: .outbox
        case .authorizationRequest: .authorizationRequest
        case .unusableReply: .unusableReply
        case .manifestPart: .manifestPart
        case .observer: .observer
        case .audit: .audit
        case .fenceCounter: .refreshIntent
        }
    }

    /// Whether each row can be checked by itself. A row of the trail can only be judged by its position.
    fileprivate var hasPlace: Bool { self != .audit && self != .fenceCounter }

    /// Whether its rows are checked with their login, so that only rows without a login are damaged on their own. These
    /// rows have no handle.
    fileprivate var needsLogin: Bool { self == .loginSecret || self == .refreshIntent }
}

extension Query {
    /// The numbers from parameter 1 on, and the number of the row's login if there is one.
    fileprivate static let pagesWithLogin = PerTable {
        select(
            $0.columns($0.key) + Table.login.columns("id"), from: $0,
            joins: [.optional(Table.login["id"], is: $0["login"])], where: [.atLeast($0[$0.key], 1)],
            order: [.up($0[$0.key])], limit: 2)
    }

    fileprivate static let rowsByHandle = PerTable {
        let handle = $0 == .authorizationRequest ? "stateIndex" : "handle"
        return select($0.columns($0.key), from: $0, where: [.equal($0[handle], 1)])
    }
}

extension Reader {
    var damage: DamageFinder { DamageFinder(tables: tables, opener: opener.readingAnew()) }
}

extension WriteTransaction {
    var damage: DamageFinder { DamageFinder(tables: tables, opener: opener.readingAnew()) }
}
