import VaultCrypto

/// The plaintext of a user's row.
struct UserColumns {
    /// The row number of a user that has no row yet.
    static let noRow: Int64 = 0

    var rowID: Int64
    var handle: UserHandle
    var blindIndex: BlindIndex
    var revision: Int64
    var auditSequence: Int64
    var rootKey: KeyID

    init(rowID: Int64, handle: UserHandle, blindIndex: BlindIndex, rootKey: KeyID) {
        self.rowID = rowID
        self.handle = handle
        self.blindIndex = blindIndex
        self.revision = 0
        self.auditSequence = 0
        self.rootKey = rootKey
    }

    /// Reads columns 0 to 5 of a query that starts with the user.
    init(_ row: any RowCursor) throws(StoreError) {
        guard let handle = row.bytes16(1), let blindIndex = row.bytes16(2), let rootKey = row.bytes16(5) else {
            throw .quarantined("user", row.bytes16(1), "a column has the wrong type or length")
        }
        rowID = row.integer(0)
        self.handle = UserHandle(handle)
        self.blindIndex = BlindIndex(blindIndex)
        revision = row.integer(3)
        auditSequence = row.integer(4)
        self.rootKey = KeyID(rootKey)
    }

    static let cellColumn: Int32 = 6

    /// The associated data of the user cell.
    func associatedData(_ vault: Bytes16) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "user")
        data.append(handle.bytes)
        data.append(blindIndex.bytes)
        data.append(revision)
        data.append(auditSequence)
        data.append(rootKey.bytes)
        return data
    }
}
