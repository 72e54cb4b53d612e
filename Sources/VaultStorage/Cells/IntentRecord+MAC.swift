import VaultCrypto

extension IntentRecord {
    /// The MAC over an intent's columns, which hold no secret. It does not detect a removed intent: see
    /// `docs/vault-format.md`.
    func mac(_ vault: Bytes16, _ keyring: Keyring, login: LoginHandle) -> Bytes16 {
        var data = AssociatedData(vault: vault, table: "refreshIntent")
        data.append(login.bytes)
        data.append(fence)
        data.append(generation)
        data.append(owner)
        data.append(startedAt.milliseconds)
        data.append(doubtSince?.milliseconds)
        data.append(Int64(tries))
        return keyring.auditMAC(previous: .genesis, row: data).first
    }

    static let firstColumn: Int32 = 21

    /// Reads the columns of a query that ends with the intent; `nil` if the login has none.
    init?(
        _ row: any RowCursor, from first: Int32 = firstColumn, _ opener: RowOpener, login: LoginHandle
    ) throws(StoreError) {
        if row.isNull(first) { return nil }
        self.init(
            fence: row.integer(first), generation: row.integer(first + 1), owner: row.integer(first + 2),
            startedAt: Timestamp(milliseconds: row.integer(first + 3)),
            doubtSince: row.optionalInteger(first + 4).map { Timestamp(milliseconds: $0) },
            tries: Int(row.integer(first + 5)), ownerLives: false)
        let (record, found, vault) = (self, row.bytes16(first + 6), opener.context.vaultID)
        guard try opener.holds({ record.mac(vault, $0, login: login) == found }) else {
            throw .quarantined("refreshIntent", login.bytes, "its authentication code is wrong")
        }
        ownerLives = opener.tables.isOwnerAlive(owner)
    }
}
