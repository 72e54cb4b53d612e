import VaultCrypto

extension Reader {
    /// Reloads the keyring if it has changed.
    package func checkForNewKeys() throws(StoreError) { try opener.vaultRow() }

    /// Counts the cells that are still sealed under retiring roots: users by an index, and the other tables directly,
    /// because they are small.
    package func rootRotation() throws(StoreError) -> RootRotationStatus {
        let row = try opener.vaultRow()
        let keyring = row.keyring
        var rest = RootSealedCells()
        for root in keyring.retiredRoots {
            let count = try tables.cursor(.usersUnderRootCount)
            rest.users += try count.withBinding(1, root.id.bytes) { () throws(StoreError) in
                try count.step() ? Int(count.integer(0)) : 0
            }
        }
        if !keyring.retiredRoots.isEmpty {
            for table in RootSealedTable.all {
                rest.add(try table.count(tables, otherThan: keyring.primaryRoot.id), of: table.table)
            }
        }
        return RootRotationStatus(
            primary: keyring.primaryRoot.id,
            primaryMadeAt: keyring.primaryMadeAt.map { Timestamp(milliseconds: $0) },
            retiring: keyring.retiredRoots.map(\.id), rest: rest)
    }

    /// Opens the cells of users from this row on. Returns how many opened, and the row to continue from; nil after the
    /// last.
    package func verifyUserCells(from first: Int64, limit: Int) throws(StoreError) -> (opened: Int, next: Int64?) {
        let rows = try tables.cursor(.users)
        defer { rows.reset() }
        rows.bind(1, first)
        rows.bind(2, Int64(limit))
        var (opened, count, last) = (0, 0, first)
        while try rows.step() {
            count += 1
            last = rows.integer(0)
            do throws(StoreError) {
                let columns = try UserColumns(rows)
                opened += try opener.withUser(rows, columns) { _ in 1 }
            } catch {
                guard error.isOfRow else { throw error }
            }
        }
        return (opened, count < limit || last == .max ? nil : last + 1)
    }
}

/// A table whose cells name their root only in their headers. These columns of its cursor hold the cell and the row's
/// number.
struct RootSealedTable {
    let table: Table
    /// A page from a row's number on.
    let query: Query
    let update: Query
    let cellColumn: Int32
    let keyColumn: Int32
    let kind: CellKind

    /// All tables of this kind.
    static let all = [
        RootSealedTable(.provider, .provider, .providerPage, cellColumn: 2, keyColumn: 4),
        RootSealedTable(
            .authorizationRequest, .authorizationRequest, .authorizationRequests, cellColumn: 2, keyColumn: 3),
        RootSealedTable(.outbox, .outbox, .outbox, cellColumn: 3, keyColumn: 4),
    ]

    private init(_ table: Table, _ kind: CellKind, _ query: Query, cellColumn: Int32, keyColumn: Int32) {
        self.table = table
        self.kind = kind
        self.query = query
        self.cellColumn = cellColumn
        self.keyColumn = keyColumn
        update = .update(table, "cell", first: 2, where: [.equal(table["id"], 1)])
    }

    /// The number of cells that are not sealed under this root. A value without a cell's header counts too, because its
    /// root is unknown.
    func count(_ tables: any TableAccess, otherThan root: KeyID) throws(StoreError) -> Int {
        let rows = try tables.cursor(query)
        defer { rows.reset() }
        rows.bind(1, .min)
        rows.bind(2, .max)
        var count = 0
        while try rows.step() {
            let key = unsafe try? SealedCell.keyID(of: rows.blob(cellColumn), kind: kind)
            if key != root { count += 1 }
        }
        return count
    }
}

extension Query {
    static let usersUnderRootCount = select([.count], from: .user, where: [.equal(Table.user["rootKey"], 1)])

    static let usersUnderRoot = select(
        userColumns, from: .user, where: [.equal(Table.user["rootKey"], 1), .greater(Table.user["id"], 2)],
        order: [.up(Table.user["id"])], limit: 3, index: "userByRoot")
}
