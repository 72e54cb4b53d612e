import VaultCrypto

extension WriteTransaction {
    /// Keeps a reply with its login, under its user's key. If there are too many, the oldest is removed.
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
            throw StoreError(.invalidValue, error.message, hint: error.hint)
        }
        let insert = try tables.cursor(.insertUnusableReply)
        insert.bind(1, reply.handle.bytes)
        insert.bind(2, login.columns.rowID)
        insert.bind(3, reply.receivedAt.milliseconds)
        insert.bind(4, cell)
        try insert.run()
        try trimUnusableReplies(of: login)
    }

    private func trimUnusableReplies(of login: OpenLogin) throws(StoreError) {
        let newestFirst = try tables.cursor(.unusableRepliesOfLoginRow)
        newestFirst.bind(1, login.columns.rowID)
        var ids: [Int64] = []
        do {
            defer { newestFirst.reset() }
            while try newestFirst.step() { ids.append(newestFirst.integer(0)) }
        }
        let delete = try tables.cursor(.deletesByNumber[.unusableReply])
        for id in ids.dropFirst(UnusableReplyRecord.mostOfALogin) {
            delete.bind(1, id)
            try delete.run()
        }
    }

    /// Seals a login's replies under its user's new data key. One that does not open stays as it is.
    func resealUnusableReplies(of login: OpenLogin, _ user: OpenUser, from former: SealingKey) throws(StoreError) {
        let rows = try tables.cursor(.unusableRepliesOfLoginRow)
        var sealed: [(id: Int64, cell: [UInt8])] = []
        do {
            defer { rows.reset() }
            rows.bind(1, login.columns.rowID)
            while try rows.step() {
                guard let handle = rows.bytes16(1) else { continue }
                let data = UnusableReplyRecord.associatedData(
                    context.vaultID, ReplyHandle(handle), login: login.columns.handle, user: user.columns.handle,
                    receivedAt: Timestamp(milliseconds: rows.integer(2)))
                let opened = unsafe try? SealedCell.Opened(
                    rows.blob(3), kind: .unusableReply, key: former, associatedData: data, scratch: opener.scratch)
                guard let opened else { continue }
                defer { opened.wipe(opener.scratch) }
                let cell = try sealing { () throws(VaultCryptoError) in
                    try unsafe SealedCell.seal(
                        opened.plaintext, kind: .unusableReply, key: user.dataKey, associatedData: data)
                }
                sealed.append((rows.integer(0), cell))
            }
        }
        let update = try tables.cursor(.updateUnusableReply)
        for (id, cell) in sealed {
            update.bind(1, id)
            update.bind(2, cell)
            try update.run()
        }
    }

    /// Forgets replies for an earlier link of the chain, which are no longer of use.
    func forgetUnusableReplies(of login: OpenLogin) throws(StoreError) {
        let delete = try tables.cursor(.deleteUnusableRepliesOfLogin)
        delete.bind(1, login.columns.rowID)
        try delete.run()
    }

    func forgetUnusableReplies(before time: Timestamp) throws(StoreError) -> Int {
        let delete = try tables.cursor(.deleteUnusableRepliesBefore)
        delete.bind(1, time.milliseconds)
        try delete.run()
        return tables.changeCount
    }
}

extension Query {
    fileprivate static let insertUnusableReply = insert(into: .unusableReply, "handle", "login", "receivedAt", "cell")

    fileprivate static let unusableRepliesOfLoginRow = select(
        Table.unusableReply.columns("id", "handle", "receivedAt", "cell"), from: .unusableReply,
        where: [.equal(Table.unusableReply["login"], 1)], order: [.down(Table.unusableReply["id"])])

    fileprivate static let updateUnusableReply = update(
        .unusableReply, "cell", first: 2, where: [.equal(Table.unusableReply["id"], 1)])

    fileprivate static let deleteUnusableRepliesBefore = delete(
        from: .unusableReply, where: [.less(Table.unusableReply["receivedAt"], 1)])
}
