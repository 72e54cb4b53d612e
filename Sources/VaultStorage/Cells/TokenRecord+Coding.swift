import VaultCrypto

extension TokenRecord {
    private enum Tag {
        static let resource: UInt8 = 1
        static let requestedScope: UInt8 = 2
        static let accessToken: UInt8 = 3
        /// Absent: `Bearer`.
        static let tokenType: UInt8 = 4
        static let scope: UInt8 = 5
        static let obtainedAt: UInt8 = 6
        static let expiresAt: UInt8 = 7
        static let isExpiryAssumed: UInt8 = 8
        static let generation: UInt8 = 9
        static let isRejected: UInt8 = 10
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 256 + accessToken.count)
        record.append(Tag.resource, target.resource)
        record.append(Tag.requestedScope, target.scope)
        record.append(Tag.accessToken, accessToken)
        if tokenType != SessionRecord.defaultTokenType { record.append(Tag.tokenType, tokenType) }
        record.append(Tag.scope, scope)
        record.append(Tag.obtainedAt, obtainedAt.milliseconds)
        record.append(Tag.expiresAt, expiresAt?.milliseconds)
        if isExpiryAssumed { record.append(Tag.isExpiryAssumed, true) }
        record.append(Tag.generation, generation)
        if isRejected { record.append(Tag.isRejected, true) }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        let epoch = Timestamp(milliseconds: 0)
        self.init(
            target: TokenTarget(), accessToken: SecretBytes(copying: []), tokenType: SessionRecord.defaultTokenType,
            obtainedAt: epoch, generation: 0)
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.resource: target.resource = try field.text()
            case Tag.requestedScope: target.scope = try field.text()
            case Tag.accessToken: accessToken = field.secret()
            case Tag.tokenType: tokenType = try field.text()
            case Tag.scope: scope = try field.text()
            case Tag.obtainedAt: obtainedAt = try field.timestamp()
            case Tag.expiresAt: expiresAt = try field.timestamp()
            case Tag.isExpiryAssumed: isExpiryAssumed = try field.bool()
            case Tag.generation: generation = try field.int64()
            case Tag.isRejected: isRejected = try field.bool()
            default: try field.ignoreIfOptional()
            }
        }
        guard target != TokenTarget(), !accessToken.isEmpty, generation > 0 else {
            throw VaultCryptoError(.malformedRecord, "an additional token lacks a field")
        }
    }
}

extension RecordField {
    func resourceTokens() throws(VaultCryptoError) -> [TokenRecord] {
        var tokens: [TokenRecord] = []
        var elements = elements()
        while let element = try unsafe elements.next() { tokens.append(try unsafe TokenRecord(element)) }
        return tokens
    }
}
