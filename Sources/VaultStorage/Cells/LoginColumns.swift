import VaultCrypto

/// The plaintext of a login's row.
struct LoginColumns {
    var rowID: Int64
    var handle: LoginHandle
    var provider: ProviderHandle?
    var position: ChainPosition
    var revision: Int64
    var incarnation: Int64
    var dueAt: Timestamp?
    /// Rounded up to the minute.
    var expiresAt: Timestamp?
    var refreshTag: CellTag?
    var keyTag: CellTag?

    init(handle: LoginHandle, provider: ProviderHandle?, incarnation: Int64) {
        rowID = 0
        self.handle = handle
        self.provider = provider
        position = .first
        revision = 0
        self.incarnation = incarnation
    }

    static let firstColumn: Int32 = 7
    static let cellColumn: Int32 = 18

    /// Reads columns 7 to 17 of a query that has the login after the user.
    init(_ row: any RowCursor) throws(StoreError) {
        let first = Self.firstColumn
        guard let handle = row.bytes16(first + 1) else {
            throw .quarantined("login", nil, "its handle has the wrong type or length")
        }
        rowID = row.integer(first)
        self.handle = LoginHandle(handle)
        provider = try Self.optional(row, first + 2, handle).map { ProviderHandle($0) }
        position = ChainPosition(chain: row.integer(first + 3), generation: row.integer(first + 4))
        revision = row.integer(first + 5)
        incarnation = row.integer(first + 6)
        dueAt = row.optionalInteger(first + 7).map { Timestamp(milliseconds: $0) }
        expiresAt = row.optionalInteger(first + 8).map { Timestamp(milliseconds: $0) }
        refreshTag = try Self.optional(row, first + 9, handle).map { CellTag($0) }
        keyTag = try Self.optional(row, first + 10, handle).map { CellTag($0) }
    }

    private static func optional(
        _ row: any RowCursor, _ column: Int32, _ handle: Bytes16
    ) throws(StoreError) -> Bytes16? {
        if row.isNull(column) { return nil }
        guard let value = row.bytes16(column) else {
            throw .quarantined("login", handle, "a column has the wrong type or length")
        }
        return value
    }

    /// The associated data of the session cell: every column, and the row's other cells through their tags.
    func sessionData(_ vault: Bytes16, _ user: UserHandle) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "login")
        data.append(handle.bytes)
        data.append(user.bytes)
        data.append(provider?.bytes)
        data.append(position.chain)
        data.append(position.generation)
        data.append(revision)
        data.append(incarnation)
        data.append(dueAt?.milliseconds)
        data.append(expiresAt?.milliseconds)
        data.append(refreshTag?.bytes)
        data.append(keyTag?.bytes)
        return data
    }

    /// The associated data of the refresh cell and the key cell. The session cell holds their tags.
    func secretData(_ vault: Bytes16, _ user: UserHandle) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "loginSecret")
        data.append(handle.bytes)
        data.append(user.bytes)
        return data
    }

    static func roundedUp(_ instant: Timestamp?) -> Timestamp? {
        guard let instant else { return nil }
        let minute: Int64 = 60_000
        let (quotient, remainder) = instant.milliseconds.quotientAndRemainder(dividingBy: minute)
        let (sum, overflow) = (quotient * minute).addingReportingOverflow(remainder > 0 ? minute : 0)
        return overflow ? instant : Timestamp(milliseconds: sum)
    }
}
