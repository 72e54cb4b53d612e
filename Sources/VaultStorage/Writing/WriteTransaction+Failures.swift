extension WriteTransaction {
    /// Keeps the list of failures that handlers have not heard of, so that a process with one finds them.
    func noteUntoldFailure(of login: OpenLogin, isUntold: Bool) throws(StoreError) {
        let note = try tables.cursor(isUntold ? .insertUntoldFailure : .deleteUntoldFailureOfLogin)
        note.bind(1, login.columns.rowID)
        try note.run()
    }
}

extension Query {
    fileprivate static let insertUntoldFailure = insert(into: .untoldFailure, "login", onConflict: .keeps)
}
