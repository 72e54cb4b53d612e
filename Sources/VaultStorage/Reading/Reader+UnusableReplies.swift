import VaultCrypto

extension Reader {
    /// The replies in the order of their arrival.
    package func unusableReplies(of login: LoginHandle) throws(StoreError) -> [UnusableReplyListing] {
        let row = try tables.cursor(.unusableReplies)
        return try consistently { () throws(StoreError) in
            try row.withBinding(1, login.bytes) { () throws(StoreError) in
                var result: [UnusableReplyListing] = []
                while try row.step() { result.append(listing(row, login)) }
                return result
            }
        }
    }

    private func listing(_ row: any RowCursor, _ login: LoginHandle) -> UnusableReplyListing {
        let handle = row.bytes16(Self.replyColumn).map { ReplyHandle($0) }
        do throws(StoreError) {
            return UnusableReplyListing(handle: handle, record: try unusableReply(row, login), damage: nil)
        } catch {
            opener.noteTear()
            return UnusableReplyListing(handle: handle, record: nil, damage: error)
        }
    }

    package func hasUnusableReplies(before time: Timestamp) throws(StoreError) -> Bool {
        try tables.has(.unusableRepliesBefore, time.milliseconds)
    }

    /// The column after those of the user.
    static let replyColumn: Int32 = 7

    private func unusableReply(_ row: any RowCursor, _ login: LoginHandle) throws(StoreError) -> UnusableReplyRecord {
        let user = try UserColumns(row)
        return try withUser(row, user) { view throws(StoreError) in
            try unsafe opener.unusableReply(row, from: Self.replyColumn, login, user.handle, view.dataKey)
        }
    }
}

extension RowOpener {
    /// Reads handle, time and cell.
    func unusableReply(
        _ row: any RowCursor, from first: Int32, _ login: LoginHandle, _ user: UserHandle,
        _ dataKey: UnsafeRawBufferPointer
    ) throws(StoreError) -> UnusableReplyRecord {
        guard let bytes = row.bytes16(first) else {
            throw .quarantined("unusableReply", nil, "its handle has the wrong type or length")
        }
        let handle = ReplyHandle(bytes)
        let receivedAt = Timestamp(milliseconds: row.integer(first + 1))
        do throws(VaultCryptoError) {
            let opened = try unsafe SealedCell.Opened(
                row.blob(first + 2), kind: .unusableReply, key: dataKey, keyID: KeyID(user.bytes),
                associatedData: UnusableReplyRecord.associatedData(
                    context.vaultID, handle, login: login, user: user, receivedAt: receivedAt), scratch: scratch)
            defer { opened.wipe(scratch) }
            return try unsafe UnusableReplyRecord(
                opened.plaintext, handle: handle, login: login, receivedAt: receivedAt)
        } catch {
            throw .quarantined("unusableReply", bytes, error)
        }
    }
}

extension Query {
    fileprivate static let unusableRepliesBefore = select(
        Table.unusableReply.columns("id"), from: .unusableReply, where: [.less(Table.unusableReply["receivedAt"], 1)],
        mostRows: 1)
}
