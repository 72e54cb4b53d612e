extension WriteTransaction {
    /// Keeps the list of failures that handlers have not heard of, so that a process with one finds them.
    func noteUntoldFailure(of login: OpenLogin, isUntold: Bool) throws(StoreError) {
        let note = try connection.statement(
            isUntold
                ? "INSERT INTO untoldFailure (login) VALUES (?1) ON CONFLICT DO NOTHING"
                : "DELETE FROM untoldFailure WHERE login = ?1")
        note.bind(1, login.columns.rowID)
        try note.run()
    }
}
