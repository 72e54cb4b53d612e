import VaultCrypto

extension MoveMark {
    private enum Tag {
        static let stage: UInt8 = 1
        static let other: UInt8 = 2
        static let since: UInt8 = 3
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 48)
        record.append(Tag.stage, stage.rawValue)
        record.append(Tag.other, other)
        record.append(Tag.since, since.milliseconds)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        var (stage, other, since) = (nil as Stage?, nil as Bytes16?, nil as Timestamp?)
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.stage: stage = Stage(rawValue: try field.uint8())
            case Tag.other: other = try field.bytes16()
            case Tag.since: since = try field.timestamp()
            default: try field.ignoreIfOptional()
            }
        }
        guard let stage, let other, let since else {
            throw VaultCryptoError(
                .malformedRecord, "the manifest records a move in a state that this version does not know")
        }
        self.init(stage, other: other, since: since)
    }
}
