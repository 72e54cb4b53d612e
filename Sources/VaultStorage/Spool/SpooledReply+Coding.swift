import VaultCrypto

extension SpooledReply {
    private enum Tag {
        static let user: UInt8 = 1
        static let provider: UInt8 = 2
        static let accessToken: UInt8 = 3
        static let tokenType: UInt8 = 4
        static let scope: UInt8 = 5
        static let obtainedAt: UInt8 = 6
        static let expiresAt: UInt8 = 7
        static let refreshToken: UInt8 = 8
        static let refreshExpiresAt: UInt8 = 9
        static let idToken: UInt8 = 10
        static let dpopPrivateKey: UInt8 = 11
        static let nonces: UInt8 = 12
        static let resource: UInt8 = 13
        static let requestedScope: UInt8 = 14
        static let isExpiryAssumed: UInt8 = 15
        static let attributes: UInt8 = 16
        static let hasLostSuccessor: UInt8 = 17
    }

    /// The fields that the frame's head does not contain.
    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 4096)
        record.append(Tag.user, user.bytes)
        record.append(Tag.provider, provider?.bytes)
        record.append(Tag.accessToken, accessToken)
        record.append(Tag.tokenType, tokenType)
        record.append(Tag.scope, scope)
        record.append(Tag.obtainedAt, obtainedAt.milliseconds)
        record.append(Tag.expiresAt, expiresAt?.milliseconds)
        record.append(Tag.refreshToken, refreshToken)
        record.append(Tag.refreshExpiresAt, refreshExpiresAt?.milliseconds)
        record.append(Tag.idToken, idToken)
        record.append(Tag.dpopPrivateKey, dpopPrivateKey)
        if !nonces.isEmpty { record.append(Tag.nonces, nonces) }
        record.append(Tag.resource, resource)
        record.append(Tag.requestedScope, requestedScope)
        if isExpiryAssumed { record.append(Tag.isExpiryAssumed, true) }
        record.append(Tag.attributes, attributes)
        if hasLostSuccessor { record.append(Tag.hasLostSuccessor, true) }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer, head: SpoolFrame.Head) throws(VaultCryptoError) {
        var user: UserHandle?
        var obtainedAt: Timestamp?
        var draft = SpooledReply(
            login: head.login, user: UserHandle(.zero), provider: nil, position: head.position, fence: head.fence,
            accessToken: nil, tokenType: "", obtainedAt: Timestamp(milliseconds: 0))
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.user: user = UserHandle(try field.bytes16())
            case Tag.provider: draft.provider = ProviderHandle(try field.bytes16())
            case Tag.accessToken: draft.accessToken = field.secret()
            case Tag.tokenType: draft.tokenType = try field.text()
            case Tag.scope: draft.scope = try field.text()
            case Tag.obtainedAt: obtainedAt = try field.timestamp()
            case Tag.expiresAt: draft.expiresAt = try field.timestamp()
            case Tag.refreshToken: draft.refreshToken = field.secret()
            case Tag.refreshExpiresAt: draft.refreshExpiresAt = try field.timestamp()
            case Tag.idToken: draft.idToken = field.secret()
            case Tag.dpopPrivateKey: draft.dpopPrivateKey = field.secret()
            case Tag.nonces: draft.nonces = try field.textTable()
            case Tag.resource: draft.resource = try field.text()
            case Tag.requestedScope: draft.requestedScope = try field.text()
            case Tag.isExpiryAssumed: draft.isExpiryAssumed = try field.bool()
            case Tag.attributes: draft.attributes = try field.textTable()
            case Tag.hasLostSuccessor: draft.hasLostSuccessor = try field.bool()
            default: try field.ignoreIfOptional()
            }
        }
        guard let user, let obtainedAt else {
            throw VaultCryptoError(.malformedRecord, "the spooled reply lacks a field")
        }
        draft.user = user
        draft.obtainedAt = obtainedAt
        self = draft
    }
}

extension SpoolFrame.Head {
    /// The associated data of the cell: the whole head, and so the login, its chain and the attempt.
    func associatedData() -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "spool")
        data.append(entry)
        data.append(login.bytes)
        data.append(position.chain)
        data.append(position.generation)
        data.append(fence)
        return data
    }
}
