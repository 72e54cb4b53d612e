import VaultCrypto

extension Reader {
    /// Logins that are due, found by the index on `dueAt`: the cost depends on the number of due logins, not on the
    /// total.
    package func dueLogins(before time: Timestamp, after cursor: DueCursor?, limit: Int) throws(StoreError) -> DuePage {
        let limit = limit.asPageLimit
        let row = try tables.cursor(.dueLogins)
        row.bind(1, time.milliseconds)
        row.bind(2, cursor?.dueAt.milliseconds ?? .min)
        row.bind(3, cursor?.row ?? .min)
        row.bind(4, Int64(limit))
        var logins: [DueLogin] = []
        var last: DueCursor?
        var rows = 0
        do {
            defer { row.reset() }
            while try row.step() {
                rows += 1
                let dueAt = Timestamp(milliseconds: row.integer(3))
                last = DueCursor(dueAt: dueAt, row: row.integer(0))
                // A row without a handle is damaged, and cannot be read.
                guard let handle = row.bytes16(1) else { continue }
                logins.append(
                    DueLogin(
                        login: LoginHandle(handle), provider: row.bytes16(2).map { ProviderHandle($0) }, dueAt: dueAt,
                        hasRefreshCell: !row.isNull(4)))
            }
        }
        return DuePage(
            logins: logins, cursor: rows < limit ? nil : last, nextDueAt: try nextDue(after: time), end: last)
    }

    private func nextDue(after time: Timestamp) throws(StoreError) -> Timestamp? {
        let row = try tables.cursor(.nextDue)
        defer { row.reset() }
        row.bind(1, time.milliseconds)
        return try row.step() ? Timestamp(milliseconds: row.integer(0)) : nil
    }
}

extension Query {
    // The row's id follows the time in the index: no sorting.
    static let dueLogins = select(
        Table.login.columns("id", "handle", "provider", "dueAt", "refreshTag"), from: .login,
        where: [
            .isNotNull(Table.login["dueAt"]), .atMost(Table.login["dueAt"], 1),
            .beyond(Table.login["dueAt"], 2, Table.login["id"], 3),
        ], order: [.up(Table.login["dueAt"]), .up(Table.login["id"])], limit: 4, index: "loginByDueAt")

    static let nextDue = select(
        Table.login.columns("dueAt"), from: .login, where: [.greater(Table.login["dueAt"], 1)],
        order: [.up(Table.login["dueAt"])], mostRows: 1, index: "loginByDueAt")
}
