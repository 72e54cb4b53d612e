import VaultCrypto

extension UnusableReplyRecord {
    private enum Tag {
        static let chain: UInt8 = 1
        static let generation: UInt8 = 2
        static let fence: UInt8 = 3
        static let status: UInt8 = 4
        static let contentType: UInt8 = 5
        static let cause: UInt8 = 6
        static let isComplete: UInt8 = 7
        static let body: UInt8 = 8
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 256 + body.count)
        record.append(Tag.chain, position.chain)
        record.append(Tag.generation, position.generation)
        record.append(Tag.fence, fence)
        record.append(Tag.status, Int64(status))
        record.append(Tag.contentType, contentType)
        record.append(Tag.cause, cause)
        record.append(Tag.isComplete, isComplete)
        record.append(Tag.body, body)
        return record
    }

    init(
        _ plaintext: UnsafeRawBufferPointer, handle: ReplyHandle, login: LoginHandle, receivedAt: Timestamp
    ) throws(VaultCryptoError) {
        var position = ChainPosition.first
        var draft = UnusableReplyRecord(
            handle: handle, login: login, position: position, fence: 0, receivedAt: receivedAt, status: 0,
            contentType: nil, cause: "", isComplete: false, body: [])
        var body: SecretBytes?
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.chain: position.chain = try field.int64()
            case Tag.generation: position.generation = try field.int64()
            case Tag.fence: draft.fence = try field.int64()
            case Tag.status: draft.status = Int(try field.int64())
            case Tag.contentType: draft.contentType = try field.text()
            case Tag.cause: draft.cause = try field.text()
            case Tag.isComplete: draft.isComplete = try field.bool()
            case Tag.body: body = field.secret()
            default: try field.ignoreIfOptional()
            }
        }
        guard let body else { throw VaultCryptoError(.malformedRecord, "the kept reply lacks a field") }
        draft.position = position
        draft.body = body
        self = draft
    }

    static func associatedData(
        _ vault: Bytes16, _ handle: ReplyHandle, login: LoginHandle, user: UserHandle, receivedAt: Timestamp
    ) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "unusableReply")
        data.append(handle.bytes)
        data.append(login.bytes)
        data.append(user.bytes)
        data.append(receivedAt.milliseconds)
        return data
    }
}
