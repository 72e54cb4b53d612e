import VaultCrypto

extension RefreshRecord {
    private enum Tag {
        static let refreshToken: UInt8 = 1
        static let refreshExpiresAt: UInt8 = 2
        static let idToken: UInt8 = 3
        static let previousRefresh: UInt8 = 4
        /// Absent: the predecessor.
        static let previousRole: UInt8 = 5
        static let previousSince: UInt8 = 6
        static let doubtSince: UInt8 = 7
        static let replacedTokens: UInt8 = 8
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.refreshToken, refreshToken)
        record.append(Tag.refreshExpiresAt, refreshExpiresAt?.milliseconds)
        record.append(Tag.idToken, idToken)
        record.append(Tag.previousRefresh, previousRefresh)
        if previousRole != .predecessor { record.append(Tag.previousRole, previousRole.rawValue) }
        record.append(Tag.previousSince, previousSince?.milliseconds)
        record.append(Tag.doubtSince, doubtSince?.milliseconds)
        record.append(Tag.replacedTokens, words: replacedTokens)
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        self.init(refreshToken: nil)
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.refreshToken: refreshToken = field.secret()
            case Tag.refreshExpiresAt: refreshExpiresAt = try field.timestamp()
            case Tag.idToken: idToken = field.secret()
            case Tag.previousRefresh: previousRefresh = field.secret()
            case Tag.previousRole:
                guard let role = PreviousRefreshRole(rawValue: try field.uint8()) else {
                    throw VaultCryptoError(
                        .malformedRecord, "the refresh cell has a role that this version does not know")
                }
                previousRole = role
            case Tag.previousSince: previousSince = try field.timestamp()
            case Tag.doubtSince: doubtSince = try field.timestamp()
            case Tag.replacedTokens: readReplaced(try field.words(atMost: Self.replacedLimit))
            default: try field.ignoreIfOptional()
            }
        }
    }
}

extension KeyRecord {
    private enum Tag {
        static let dpopPrivateKey: UInt8 = 1
        static let nonces: UInt8 = 2
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.dpopPrivateKey, dpopPrivateKey)
        record.append(Tag.nonces, nonces)
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        var key: SecretBytes?
        var nonces: [String: String] = [:]
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.dpopPrivateKey: key = field.secret()
            case Tag.nonces: nonces = try field.textTable()
            default: try field.ignoreIfOptional()
            }
        }
        guard let key else { throw VaultCryptoError(.malformedRecord, "the key cell lacks a field") }
        self.init(dpopPrivateKey: key, nonces: nonces)
    }
}
