import VaultCrypto

extension WriteTransaction {
    /// Keeps a reply with its login, under its user's key; the oldest of too many goes.
    func keep(_ reply: UnusableReplyRecord) throws(StoreError) {
        let (user, login) = try loadLogin(reply.login)
        let cell: [UInt8]
        do throws(VaultCryptoError) {
            cell = try SealedCell.seal(
                reply.encoded(), kind: .unusableReply, key: user.dataKey,
                associatedData: UnusableReplyRecord.associatedData(
                    context.vaultID, reply.handle, login: reply.login, user: user.columns.handle,
                    receivedAt: reply.receivedAt))
        } catch {
            throw StoreError(.invalidValue, error.reason, hint: error.hint)
        }
        let insert = try connection.statement(
            "INSERT INTO unusableReply (handle, login, receivedAt, cell) VALUES (?1, ?2, ?3, ?4)")
        insert.bind(1, reply.handle.bytes)
        insert.bind(2, login.columns.rowID)
        insert.bind(3, reply.receivedAt.milliseconds)
        insert.bind(4, cell)
        try insert.run()
        let trim = try connection.statement(
            """
            DELETE FROM unusableReply WHERE login = ?1 AND id NOT IN
                (SELECT id FROM unusableReply WHERE login = ?1 ORDER BY id DESC LIMIT ?2)
            """)
        trim.bind(1, login.columns.rowID)
        trim.bind(2, Int64(UnusableReplyRecord.mostOfALogin))
        try trim.run()
    }

    /// The chain has moved on: nothing that came for an earlier link is of use any more.
    func forgetUnusableReplies(of login: OpenLogin) throws(StoreError) {
        let delete = try connection.statement("DELETE FROM unusableReply WHERE login = ?1")
        delete.bind(1, login.columns.rowID)
        try delete.run()
    }

    func forgetUnusableReplies(before time: Timestamp) throws(StoreError) -> Int {
        let delete = try connection.statement("DELETE FROM unusableReply WHERE receivedAt < ?1")
        delete.bind(1, time.milliseconds)
        try delete.run()
        return connection.changeCount
    }
}
