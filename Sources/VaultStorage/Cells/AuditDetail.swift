import VaultCrypto

/// The content of an audit row's detail cell.
struct AuditDetail {
    private enum Tag {
        static let texts: UInt8 = 1
        static let look: UInt8 = 2
        static let pruning: UInt8 = 3
        // From 128 on: no decision depends on the field.
        static let actor: UInt8 = 128
        static let provider: UInt8 = 129
        static let fence: UInt8 = 130
        static let facts: UInt8 = 131
    }

    var texts: [AuditEvent.Detail] = []
    var look: LoginSnapshot?
    var pruning: TrailPruning?
    var actor: AuditActor?
    /// The provider of the row's login. It does not justify a cell on its own: while the login exists, its own row
    /// names the provider.
    var provider: ProviderHandle?
    /// The fence of the renewal that the row ends, against which the plaintext counter is checked. It does not justify
    /// a cell on its own either.
    var fence: Int64?
    /// It does not justify a cell on its own either.
    var facts: ReplyFacts?

    /// Returns `nil` if there is nothing to record.
    func sealed(
        _ columns: AuditColumns, _ vault: Bytes16, _ keyring: Keyring
    ) throws(VaultCryptoError) -> [UInt8]? {
        guard !texts.isEmpty || look != nil || pruning != nil || actor != nil else { return nil }
        return try SealedCell.seal(
            encoded(), kind: .auditDetail, key: keyring.auditKey(ofRow: columns.sequence),
            associatedData: columns.detailData(vault))
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 128)
        if !texts.isEmpty { record.append(Tag.texts, texts.flatMap { [$0.key, $0.value] }) }
        if let look { record.append(Tag.look, record: look.encoded()) }
        if let pruning { record.append(Tag.pruning, record: pruning.encoded()) }
        if let actor { record.append(Tag.actor, record: actor.encoded()) }
        record.append(Tag.provider, provider?.bytes)
        record.append(Tag.fence, fence)
        if let facts { record.append(Tag.facts, record: facts.encoded()) }
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
            case Tag.look: look = try LoginSnapshot(field)
            case Tag.pruning: pruning = try TrailPruning(field)
            case Tag.actor: actor = try AuditActor(field)
            case Tag.provider: provider = ProviderHandle(try field.bytes16())
            case Tag.fence: fence = try field.int64()
            case Tag.facts: facts = try ReplyFacts(field)
            default: try field.ignoreIfOptional()
            }
        }
    }
}
