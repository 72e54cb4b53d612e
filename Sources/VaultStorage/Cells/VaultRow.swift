import VaultCrypto

/// The vault's own row with its cells open.
package struct VaultRow: Sendable {
    package var incarnation: Int64
    let createdAt: Timestamp
    /// The number of changes of the row. 0: the schema was migrated, and the row has no manifest yet.
    var revision: Int64
    /// The audit row that records the last change.
    var auditSequence: Int64
    var keyring: Keyring
    /// The tag of the keyring's cell.
    var keyringTag: CellTag
    var manifest: VaultManifest
    /// The tag of the manifest's cell.
    var manifestTag: CellTag?
    /// The key that seals the row, and the slot that gave it to this process.
    var opened: OpenedSlot

    var vaultKey: SealingKey { opened.vaultKey }

    var hasManifest: Bool { revision > 0 }

    /// The associated data of the keyring.
    static func keyringData(_ vault: Bytes16, incarnation: Int64, createdAt: Timestamp) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "vault")
        data.append(incarnation)
        data.append(createdAt.milliseconds)
        return data
    }

    /// The associated data of the manifest: every other column of the row, and the keyring through its tag.
    func manifestData(_ vault: Bytes16) -> AssociatedData {
        var data = Self.keyringData(vault, incarnation: incarnation, createdAt: createdAt)
        data.append(revision)
        data.append(auditSequence)
        data.append(keyringTag.bytes)
        return data
    }

    /// Seals the keyring, and notes its tag.
    mutating func sealKeyring(_ vault: Bytes16) throws(VaultCryptoError) -> [UInt8] {
        let cell = try keyring.seal(
            under: vaultKey,
            associatedData: Self.keyringData(vault, incarnation: incarnation, createdAt: createdAt))
        keyringTag = try SealedCell.tag(of: cell)
        return cell
    }

    /// Seals the manifest over the current columns, and notes its tag.
    mutating func sealManifest(_ vault: Bytes16) throws(VaultCryptoError) -> [UInt8] {
        let cell = try SealedCell.seal(
            manifest.encoded(), kind: .manifest, key: vaultKey, associatedData: manifestData(vault))
        manifestTag = try SealedCell.tag(of: cell)
        return cell
    }
}

extension VaultRow {
    /// Reads and opens the current row.
    ///
    /// - Parameter known: an earlier state, whose keyring is reused if it has not changed.
    static func load(
        _ tables: any TableAccess, vault: Bytes16, opened: OpenedSlot, known: VaultRow? = nil
    ) throws(StoreError) -> VaultRow {
        let row = try tables.cursor(.vaultRow)
        defer { row.reset() }
        guard try row.step(), row.bytes16(0) == vault else {
            throw StoreError(
                .damaged, "the vault's own row is missing or is that of another vault", hint: "restore a backup")
        }
        do throws(VaultCryptoError) { return try VaultRow(row, vault, opened, known) } catch {
            throw StoreError(opening: error)
        }
    }

    private init(
        _ row: any RowCursor, _ vault: Bytes16, _ opened: OpenedSlot, _ known: VaultRow?
    ) throws(VaultCryptoError) {
        self.opened = opened
        let vaultKey = opened.vaultKey
        let keyringCell = row.bytes(3)
        incarnation = row.integer(1)
        createdAt = Timestamp(milliseconds: row.integer(2))
        revision = row.integer(4)
        auditSequence = row.integer(5)
        keyringTag = try SealedCell.tag(of: keyringCell)
        manifest = VaultManifest()
        if let known, known.keyringTag == keyringTag, known.incarnation == incarnation {
            keyring = known.keyring
        } else {
            keyring = try Keyring.open(
                keyringCell, under: vaultKey,
                associatedData: Self.keyringData(vault, incarnation: incarnation, createdAt: createdAt))
        }
        if revision == 0, auditSequence == 0, row.isNull(6) { return }
        let cell = row.bytes(6)
        manifestTag = try SealedCell.tag(of: cell)
        let scratch = try CellScratch(byteCount: max(cell.count, SealedCell.minimumByteCount))
        let data = manifestData(vault)
        manifest = try unsafe cell.span.bytes.withUnsafeBytes { bytes throws(VaultCryptoError) in
            let opened = try unsafe SealedCell.Opened(
                bytes, kind: .manifest, key: vaultKey, associatedData: data, scratch: scratch)
            defer { opened.wipe(scratch) }
            return try unsafe VaultManifest(opened.plaintext)
        }
        guard hasManifest else {
            throw VaultCryptoError(.malformedRecord, "the vault's row has a manifest and no revision")
        }
    }
}

extension VaultRow {
    /// The id of the vault key that currently seals the row; nil if it cannot be read.
    static func vaultKeyID(_ tables: any TableAccess) throws(StoreError) -> KeyID? {
        let row = try tables.cursor(.vaultRow)
        defer { row.reset() }
        guard try row.step() else { return nil }
        return unsafe try? SealedCell.keyID(of: row.blob(3), kind: .keyring)
    }
}

extension Query {
    fileprivate static let vaultRow = select(
        Table.vault.columns(
            "vaultID", "incarnation", "createdAt", "keyringCell", "revision", "auditSequence", "manifestCell"),
        from: .vault)
}
