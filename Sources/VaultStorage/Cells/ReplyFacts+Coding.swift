import VaultCrypto

extension ReplyFacts {
    // No decision depends on any of them.
    private enum Tag {
        /// ``nextToken``, or 0, and ``lifetimeBit``.
        static let tokens: UInt8 = 128
        static let idle: UInt8 = 129
        static let age: UInt8 = 130
    }

    private static let lifetimeBit: UInt8 = 16

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 32)
        if nextToken != nil || saysLifetime {
            record.append(Tag.tokens, (nextToken?.rawValue ?? 0) | (saysLifetime ? Self.lifetimeBit : 0))
        }
        record.append(Tag.idle, idle)
        record.append(Tag.age, age)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        self.init()
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.tokens:
                let code = try field.uint8()
                nextToken = NextToken(rawValue: code & ~Self.lifetimeBit)
                saysLifetime = code & Self.lifetimeBit != 0
            case Tag.idle: idle = try field.int64()
            case Tag.age: age = try field.int64()
            default: try field.ignoreIfOptional()
            }
        }
    }
}
