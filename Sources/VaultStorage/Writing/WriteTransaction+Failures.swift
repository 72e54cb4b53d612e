extension WriteTransaction {
    /// Maintains the list of failures that no handler was notified of, so that a process with a handler finds them.
    func noteUnreportedFailure(of login: OpenLogin, isUnreported: Bool) throws(StoreError) {
        let note = try tables.cursor(isUnreported ? .insertUnreportedFailure : .deleteUnreportedFailureOfLogin)
        note.bind(1, login.columns.rowID)
        try note.run()
    }
}

extension Query {
    fileprivate static let insertUnreportedFailure = insert(into: .unreportedFailure, "login", onConflict: .keeps)
}
