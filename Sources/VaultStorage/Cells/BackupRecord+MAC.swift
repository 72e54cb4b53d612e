import VaultCrypto

extension BackupRecord {
    /// The MAC over the columns of a row, which hold no secret. It does not detect a removed row: see
    /// `docs/vault-format.md`.
    func mac(_ vault: Bytes16, _ keyring: Keyring) -> Bytes16 {
        var data = AssociatedData(vault: vault, table: "backup")
        data.append(handle.bytes)
        data.append(madeAt.milliseconds)
        data.append(finishedAt?.milliseconds)
        data.append(auditSequence)
        data.append(byteCount)
        // The path is too long for the list of fields itself.
        data.append(bytes: Self.digest(path))
        data.append(bytes: Self.digest(recipientText))
        return keyring.auditMAC(previous: .genesis, row: data).first
    }

    private static func digest(_ text: String) -> [UInt8] {
        unsafe Array(text.utf8).withUnsafeBytes { unsafe Checksum.digest(of: $0) }
    }

    /// The recipients in the form of the column.
    var recipientText: String { recipients.joined(separator: " ") }

    /// Reads the columns of ``Query/backups``.
    init(_ row: any RowCursor, _ opener: RowOpener) throws(StoreError) {
        guard let handle = row.bytes16(1) else {
            throw .quarantined("backup", nil, "its handle has the wrong type or length")
        }
        self.init(
            handle: BackupHandle(handle), madeAt: Timestamp(milliseconds: row.integer(2)),
            auditSequence: row.integer(4), byteCount: row.integer(5), path: row.text(6),
            recipients: row.text(7).split(separator: " ").map(String.init),
            finishedAt: row.optionalInteger(3).map { Timestamp(milliseconds: $0) })
        let (record, found, vault) = (self, row.bytes16(8), opener.context.vaultID)
        guard try opener.holds({ record.mac(vault, $0) == found }) else {
            throw .quarantined("backup", handle, "its authentication code is wrong")
        }
    }
}

extension Query {
    static let backups = select(
        Table.backup.columns(
            "id", "handle", "madeAt", "finishedAt", "auditSequence", "byteCount", "path", "recipients", "mac"),
        from: .backup, where: [.atLeast(Table.backup["id"], 1)], order: [.up(Table.backup["id"])], limit: 2)
}
