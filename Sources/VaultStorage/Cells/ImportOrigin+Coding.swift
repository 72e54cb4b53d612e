import VaultCrypto

extension ImportOrigin {
    private enum Tag {
        static let source: UInt8 = 1
        static let row: UInt8 = 2
        static let tokens: UInt8 = 3
        static let owner: UInt8 = 4
        static let takenAt: UInt8 = 5
        static let isMissing: UInt8 = 6
        static let formerTokens: UInt8 = 7
        static let assumedIssue: UInt8 = 8
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 96)
        record.append(Tag.source, source)
        record.append(Tag.row, row)
        record.append(Tag.tokens, tokens)
        record.append(Tag.owner, owner.rawValue)
        record.append(Tag.takenAt, takenAt.milliseconds)
        if isMissing { record.append(Tag.isMissing, true) }
        record.append(Tag.formerTokens, words: formerTokens)
        record.append(Tag.assumedIssue, assumedIssue?.milliseconds)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        // A record that names no owner counts as contested.
        self.init(
            source: "", row: .zero, tokens: .zero, owner: .contested, takenAt: Timestamp(milliseconds: 0))
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.source: source = try field.text()
            case Tag.row: row = try field.bytes16()
            case Tag.tokens: tokens = try field.bytes16()
            case Tag.owner:
                guard let value = Owner(rawValue: try field.uint8()) else {
                    throw VaultCryptoError(
                        .malformedRecord, "an import's origin has an owner that this version does not know")
                }
                owner = value
            case Tag.takenAt: takenAt = try field.timestamp()
            case Tag.isMissing: isMissing = try field.bool()
            case Tag.formerTokens: readFormer(try field.words(atMost: Self.formerLimit))
            case Tag.assumedIssue: assumedIssue = try field.timestamp()
            default: try field.ignoreIfOptional()
            }
        }
    }
}
