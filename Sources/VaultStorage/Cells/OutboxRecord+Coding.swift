import VaultCrypto

extension OutboxRecord {
    private enum Tag {
        static let provider: UInt8 = 1
        static let login: UInt8 = 2
        static let user: UInt8 = 3
        static let refreshToken: UInt8 = 4
        static let accessToken: UInt8 = 5
        static let dpopPrivateKey: UInt8 = 6
        static let nonces: UInt8 = 7
        static let createdAt: UInt8 = 8
        static let attributes: UInt8 = 9
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.provider, provider.bytes)
        record.append(Tag.login, login?.bytes)
        record.append(Tag.user, user?.bytes)
        record.append(Tag.refreshToken, refreshToken)
        record.append(Tag.accessToken, accessToken)
        record.append(Tag.dpopPrivateKey, dpopPrivateKey)
        record.append(Tag.nonces, nonces)
        record.append(Tag.createdAt, createdAt.milliseconds)
        if !attributes.isEmpty { record.append(Tag.attributes, attributes) }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer, handle: OutboxHandle) throws(VaultCryptoError) {
        var provider: ProviderHandle?
        var draft = OutboxRecord(
            handle: handle, provider: ProviderHandle(.zero), login: nil, user: nil, refreshToken: nil, accessToken: nil,
            createdAt: Timestamp(milliseconds: 0))
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.provider: provider = ProviderHandle(try field.bytes16())
            case Tag.login: draft.login = LoginHandle(try field.bytes16())
            case Tag.user: draft.user = UserHandle(try field.bytes16())
            case Tag.refreshToken: draft.refreshToken = field.secret()
            case Tag.accessToken: draft.accessToken = field.secret()
            case Tag.dpopPrivateKey: draft.dpopPrivateKey = field.secret()
            case Tag.nonces: draft.nonces = try field.textTable()
            case Tag.createdAt: draft.createdAt = try field.timestamp()
            case Tag.attributes: draft.attributes = try field.textTable()
            default: try field.ignoreIfOptional()
            }
        }
        guard let provider else { throw VaultCryptoError(.malformedRecord, "the outbox entry lacks a field") }
        draft.provider = provider
        self = draft
    }

    static func associatedData(
        _ vault: Bytes16, _ handle: OutboxHandle, nextAttemptAt: Timestamp, attempts: Int64
    ) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "outbox")
        data.append(handle.bytes)
        data.append(nextAttemptAt.milliseconds)
        data.append(attempts)
        return data
    }
}
