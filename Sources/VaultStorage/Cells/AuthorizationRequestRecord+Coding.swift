import VaultCrypto

extension AuthorizationRequestRecord {
    private enum Tag {
        static let state: UInt8 = 1
        static let codeVerifier: UInt8 = 2
        static let provider: UInt8 = 3
        static let userID: UInt8 = 4
        static let redirectURI: UInt8 = 5
        static let scope: UInt8 = 6
        static let dpopPrivateKey: UInt8 = 7
        static let label: UInt8 = 8
        static let createdAt: UInt8 = 9
        static let nonces: UInt8 = 10
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.state, state)
        record.append(Tag.codeVerifier, codeVerifier)
        record.append(Tag.provider, provider.bytes)
        record.append(Tag.userID, userID)
        record.append(Tag.redirectURI, redirectURI)
        record.append(Tag.scope, scope)
        record.append(Tag.dpopPrivateKey, dpopPrivateKey)
        record.append(Tag.label, label)
        record.append(Tag.createdAt, createdAt.milliseconds)
        if !nonces.isEmpty { record.append(Tag.nonces, nonces) }
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer, expiresAt: Timestamp) throws(VaultCryptoError) {
        let nothing = SecretBytes(copying: [])
        var draft = AuthorizationRequestRecord(
            state: nothing, codeVerifier: nothing, provider: ProviderHandle(.zero), userID: "",
            createdAt: Timestamp(milliseconds: 0), expiresAt: expiresAt)
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() {
            switch field.tag {
            case Tag.state: draft.state = field.secret()
            case Tag.codeVerifier: draft.codeVerifier = field.secret()
            case Tag.provider: draft.provider = ProviderHandle(try field.bytes16())
            case Tag.userID: draft.userID = try field.text()
            case Tag.redirectURI: draft.redirectURI = try field.text()
            case Tag.scope: draft.scope = try field.text()
            case Tag.dpopPrivateKey: draft.dpopPrivateKey = field.secret()
            case Tag.label: draft.label = try field.text()
            case Tag.createdAt: draft.createdAt = try field.timestamp()
            case Tag.nonces: draft.nonces = try field.textTable()
            default: try field.ignoreIfOptional()
            }
        }
        guard !draft.state.isEmpty, !draft.codeVerifier.isEmpty, !draft.userID.isEmpty else {
            throw VaultCryptoError(.malformedRecord, "the log-in request lacks a field")
        }
        self = draft
    }

    static func associatedData(_ vault: Bytes16, _ index: BlindIndex, expiresAt: Timestamp) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "authorizationRequest")
        data.append(index.bytes)
        data.append(expiresAt.milliseconds)
        return data
    }
}
