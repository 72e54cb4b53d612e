extension WriteTransaction {
    /// Keeps the list of failures that handlers have not heard of, so that a process with one finds them.
    func noteUnreportedFailure(of login: OpenLogin, isUnreported: Bool) throws(StoreError) {
        let note = try tables.cursor(isUnreported ? .insertUnreportedFailure : .deleteUnreportedFailureOfLogin)
        note.bind(1, login.columns.rowID)
        try note.run()
    }
}

extension Query {
    fileprivate static let insertUnreportedFailure = insert(into: .unreportedFailure, "login", onConflict: .keeps)
}
