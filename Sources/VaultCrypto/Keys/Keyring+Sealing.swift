extension Keyring {
    private enum Tag {
        static let primaryRoot: UInt8 = 1
        static let retiredRoots: UInt8 = 2
        static let indexKey: UInt8 = 3
        static let auditKey: UInt8 = 4
        static let primaryMadeAt: UInt8 = 5
        static let formerIndexKey: UInt8 = 6
        static let indexMadeAt: UInt8 = 7
        static let formerAuditKeys: UInt8 = 8
        static let auditMadeAt: UInt8 = 9
    }

    private enum KeyTag {
        static let id: UInt8 = 1
        static let key: UInt8 = 2
        /// The last row under a former audit key.
        static let through: UInt8 = 3
    }

    /// The keyring as a cell of kind `keyring` under the vault key.
    package func seal(
        under vaultKey: SealingKey, associatedData: borrowing AssociatedData
    ) throws(VaultCryptoError) -> [UInt8] {
        var retired = RecordList()
        for key in retiredRoots { retired.append(Self.record(of: key)) }
        var record = RecordWriter()
        record.append(Tag.primaryRoot, record: Self.record(of: primaryRoot))
        record.append(Tag.retiredRoots, list: retired)
        record.append(Tag.indexKey, record: Self.record(of: indexKey))
        record.append(Tag.auditKey, record: Self.record(of: auditKey))
        record.append(Tag.primaryMadeAt, primaryMadeAt)
        if let formerIndexKey { record.append(Tag.formerIndexKey, record: Self.record(of: formerIndexKey)) }
        record.append(Tag.indexMadeAt, indexMadeAt)
        if !formerAuditKeys.isEmpty {
            var former = RecordList()
            for entry in formerAuditKeys {
                var element = Self.record(of: entry.key)
                element.append(KeyTag.through, entry.through)
                former.append(element)
            }
            record.append(Tag.formerAuditKeys, list: former)
        }
        record.append(Tag.auditMadeAt, auditMadeAt)
        return try SealedCell.seal(record, kind: .keyring, key: vaultKey, associatedData: associatedData)
    }

    package static func open(
        _ cell: [UInt8], under vaultKey: SealingKey, associatedData: borrowing AssociatedData
    ) throws(VaultCryptoError) -> Keyring {
        let scratch = try CellScratch(byteCount: max(cell.count, SealedCell.minimumByteCount))
        return try unsafe cell.withBytes { cell throws(VaultCryptoError) in
            let opened = try unsafe SealedCell.Opened(
                cell, kind: .keyring, key: vaultKey, associatedData: associatedData, scratch: scratch
            )
            defer { opened.wipe(scratch) }
            return try unsafe read(RecordReader(opened.plaintext))
        }
    }

    private static func record(of key: SealingKey) -> RecordWriter {
        var record = RecordWriter(capacity: 64)
        record.append(KeyTag.id, key.id.bytes)
        record.append(KeyTag.key, key)
        return record
    }

    private static func read(_ record: RecordReader) throws(VaultCryptoError) -> Keyring {
        var record = record
        var (primary, index, formerIndex, audit): (SealingKey?, SealingKey?, SealingKey?, SealingKey?)
        var (primaryMadeAt, indexMadeAt, auditMadeAt): (Int64?, Int64?, Int64?)
        var retired: [SealingKey] = []
        var formerAudit: [FormerAuditKey] = []
        while let field = try record.next() {
            switch field.tag {
            case Tag.primaryRoot: primary = try key(from: field.record())
            case Tag.retiredRoots:
                var elements = field.elements()
                while let element = try unsafe elements.next() {
                    retired.append(try unsafe key(from: RecordReader(element)))
                }
            case Tag.indexKey: index = try key(from: field.record())
            case Tag.auditKey: audit = try key(from: field.record())
            case Tag.primaryMadeAt: primaryMadeAt = try field.int64()
            case Tag.formerIndexKey: formerIndex = try key(from: field.record())
            case Tag.indexMadeAt: indexMadeAt = try field.int64()
            case Tag.formerAuditKeys:
                var elements = field.elements()
                while let element = try unsafe elements.next() {
                    formerAudit.append(try unsafe formerAuditKey(from: RecordReader(element), after: formerAudit.last))
                }
            case Tag.auditMadeAt: auditMadeAt = try field.int64()
            default: try field.ignoreIfOptional()
            }
        }
        guard let primary, let index, let audit else {
            throw VaultCryptoError(.malformedRecord, "the keyring lacks a key")
        }
        return Keyring(
            Parts(
                primaryRoot: primary, primaryMadeAt: primaryMadeAt, retiredRoots: retired, indexKey: index,
                indexMadeAt: indexMadeAt, formerIndexKey: formerIndex, auditKey: audit, auditMadeAt: auditMadeAt,
                formerAuditKeys: formerAudit))
    }

    private static func formerAuditKey(
        from record: RecordReader, after last: FormerAuditKey?
    ) throws(VaultCryptoError) -> FormerAuditKey {
        var through: Int64?
        let key = try key(from: record) { field throws(VaultCryptoError) in
            guard field.tag == KeyTag.through else { return try field.ignoreIfOptional() }
            through = try field.int64()
        }
        guard let through, through > last?.through ?? 0 else {
            throw VaultCryptoError(.malformedRecord, "a former audit key does not name its last row")
        }
        return FormerAuditKey(key: key, through: through)
    }

    private static func key(
        from record: RecordReader,
        _ other: (RecordField) throws(VaultCryptoError) -> Void = { field throws(VaultCryptoError) in
            try field.ignoreIfOptional()
        }
    ) throws(VaultCryptoError) -> SealingKey {
        var record = record
        var id: KeyID?
        var key: SealingKey?
        while let field = try record.next() {
            switch field.tag {
            case KeyTag.id: id = KeyID(try field.bytes16())
            case KeyTag.key:
                guard let id else { throw VaultCryptoError(.malformedRecord, "the keyring holds a key without an id") }
                key = try unsafe SealingKey(id: id, copying: field.keyBytes())
            default: try other(field)
            }
        }
        guard let key else { throw VaultCryptoError(.malformedRecord, "the keyring lacks a key") }
        return key
    }
}
