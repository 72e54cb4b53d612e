import VaultCrypto

/// What the cell of an audit row holds.
struct AuditDetail {
    private enum Tag {
        static let texts: UInt8 = 1
        static let look: UInt8 = 2
        static let pruning: UInt8 = 3
    }

    var texts: [AuditEvent.Detail] = []
    var look: LoginLook?
    var pruning: TrailPruning?

    /// `nil` if there is nothing to record.
    func sealed(
        _ columns: AuditColumns, _ vault: Bytes16, _ keyring: Keyring
    ) throws(VaultCryptoError) -> [UInt8]? {
        guard !texts.isEmpty || look != nil || pruning != nil else { return nil }
        return try SealedCell.seal(
            encoded(), kind: .auditDetail, key: keyring.auditKey(ofRow: columns.sequence),
            associatedData: columns.detailData(vault))
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 128)
        if !texts.isEmpty { record.append(Tag.texts, texts.flatMap { [$0.key, $0.value] }) }
        if let look { record.append(Tag.look, record: look.encoded()) }
        if let pruning { record.append(Tag.pruning, record: pruning.encoded()) }
        return record
    }
}

extension AuditDetail {
    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        self.init()
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.texts:
                let words = try field.texts()
                for index in stride(from: 0, to: words.count - 1, by: 2) {
                    texts.append(AuditEvent.Detail(words[index], words[index + 1]))
                }
            case Tag.look: look = try LoginLook(field)
            case Tag.pruning: pruning = try TrailPruning(field)
            default: try field.ignoreIfOptional()
            }
        }
    }
}
