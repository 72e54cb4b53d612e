import VaultCrypto

extension Reader {
    /// Logins with a failure that no handler has heard of, as far as a list tells that anybody could have changed.
    func untoldFailures(limit: Int) throws(StoreError) -> [LoginHandle] {
        let row = try connection.statement(
            "SELECT login.handle FROM untoldFailure CROSS JOIN login ON login.id = untoldFailure.login LIMIT ?1")
        defer { row.reset() }
        row.bind(1, Int64(limit))
        var logins: [LoginHandle] = []
        while try row.step() {
            if let handle = row.bytes16(0) { logins.append(LoginHandle(handle)) }
        }
        return logins
    }
}
