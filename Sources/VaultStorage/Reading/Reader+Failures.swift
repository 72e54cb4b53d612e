import VaultCrypto

extension Reader {
    /// Logins with a failure that no handler was notified of, according to a list that is not authenticated.
    package func unreportedFailures(limit: Int) throws(StoreError) -> [LoginHandle] {
        let row = try tables.cursor(.unreportedFailures)
        defer { row.reset() }
        row.bind(1, Int64(limit))
        var logins: [LoginHandle] = []
        while try row.step() {
            if let handle = row.bytes16(0) { logins.append(LoginHandle(handle)) }
        }
        return logins
    }
}

extension Query {
    fileprivate static let unreportedFailures = select(
        Table.login.columns("handle"), from: .unreportedFailure,
        joins: [.each(Table.login["id"], is: Table.unreportedFailure["login"])], limit: 1)
}
