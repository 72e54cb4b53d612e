import VaultCrypto

extension RefusalRecord {
    private enum Tag {
        static let at: UInt8 = 1
        static let status: UInt8 = 2
        static let error: UInt8 = 3
        static let message: UInt8 = 4
        static let failure: UInt8 = 5
        static let location: UInt8 = 6
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.at, at.milliseconds)
        record.append(Tag.status, status)
        record.append(Tag.error, error)
        record.append(Tag.message, message)
        record.append(Tag.failure, failure)
        record.append(Tag.location, location)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        self.init(at: Timestamp(milliseconds: 0), status: nil, error: nil, message: nil)
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.at: at = try field.timestamp()
            case Tag.status: status = try field.int64()
            case Tag.error: error = field.secret()
            case Tag.message: message = field.secret()
            case Tag.failure: failure = try field.text()
            case Tag.location: location = field.secret()
            default: try field.ignoreIfOptional()
            }
        }
    }
}
