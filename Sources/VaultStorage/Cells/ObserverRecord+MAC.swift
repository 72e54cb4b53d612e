import VaultCrypto

extension ObserverRecord {
    /// The MAC over the columns of a row, which hold no secret. It does not detect a removed row, or an older state of
    /// one: see `docs/vault-format.md`.
    func mac(_ vault: Bytes16, _ keyring: Keyring) -> Bytes16 {
        var data = AssociatedData(vault: vault, table: "observer")
        data.append(name)
        data.append(cursor)
        data.append(incarnation)
        data.append(owner)
        return keyring.auditMAC(previous: .genesis, row: data).first
    }

    /// Reads the columns of ``Query/observers``.
    init(_ row: any RowCursor, _ opener: RowOpener) throws(StoreError) {
        self.init(name: row.text(1), cursor: row.text(2), incarnation: row.integer(3), owner: row.integer(4))
        let (record, found, vault) = (self, row.bytes16(5), opener.context.vaultID)
        // A longer text has no MAC.
        guard record.isWithinLimits, try opener.holds({ record.mac(vault, $0) == found }) else {
            throw .quarantined("observer", nil, "its authentication code is wrong")
        }
    }

    var isWithinLimits: Bool { name.utf8.count <= Self.nameLimit && cursor.utf8.count <= Self.cursorLimit }
}

extension Query {
    private static let observerColumns = Table.observer.columns("id", "name", "cursor", "incarnation", "owner", "mac")

    static let observers = select(
        observerColumns, from: .observer, where: [.atLeast(Table.observer["id"], 1)],
        order: [.up(Table.observer["id"])], limit: 2)

    static let observerByRow = select(observerColumns, from: .observer, where: [.equal(Table.observer["id"], 1)])

    static let observer = select(observerColumns, from: .observer, where: [.equal(Table.observer["name"], 1)])
}
