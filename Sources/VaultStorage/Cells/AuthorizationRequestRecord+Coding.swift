import VaultCrypto

extension AuthorizationRequestRecord {
    private enum Tag {
        static let state: UInt8 = 1
        static let codeVerifier: UInt8 = 2
        static let provider: UInt8 = 3
        static let userId: UInt8 = 4
        static let redirectURI: UInt8 = 5
        static let scope: UInt8 = 6
        static let dpopPrivateKey: UInt8 = 7
        static let label: UInt8 = 8
        static let createdAt: UInt8 = 9
        static let nonces: UInt8 = 10
        // Below 128: a version that does not know the binding must not complete the log-in without it.
        static let bindingHash: UInt8 = 11
        static let context: UInt8 = 12
        static let resources: UInt8 = 13
        static let idTokenNonce: UInt8 = 14
        static let maximumAge: UInt8 = 15
        static let targetLogin: UInt8 = 16
        static let targetChain: UInt8 = 17
        static let acceptsOtherAccount: UInt8 = 18
        static let variables: UInt8 = 19
        static let resource: UInt8 = 20
        static let stepUpURL: UInt8 = 21
        static let stepUpBinding: UInt8 = 22
        static let stepUpExpiresAt: UInt8 = 23
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter()
        record.append(Tag.state, state)
        record.append(Tag.codeVerifier, codeVerifier)
        record.append(Tag.provider, provider.bytes)
        record.append(Tag.userId, userId)
        record.append(Tag.redirectURI, redirectURI)
        record.append(Tag.scope, scope)
        record.append(Tag.dpopPrivateKey, dpopPrivateKey)
        record.append(Tag.label, label)
        record.append(Tag.createdAt, createdAt.milliseconds)
        if !nonces.isEmpty { record.append(Tag.nonces, nonces) }
        record.append(Tag.bindingHash, bindingHash)
        record.append(Tag.context, context)
        record.append(Tag.resources, resources)
        record.append(Tag.idTokenNonce, idTokenNonce)
        record.append(Tag.maximumAge, maximumAge)
        record.append(Tag.targetLogin, target?.login.bytes)
        record.append(Tag.targetChain, target?.chain)
        if target?.acceptsOtherAccount == true { record.append(Tag.acceptsOtherAccount, true) }
        if !variables.isEmpty { record.append(Tag.variables, variables) }
        record.append(Tag.resource, resource)
        record.append(Tag.stepUpURL, stepUp?.url)
        record.append(Tag.stepUpBinding, stepUp?.binding)
        record.append(Tag.stepUpExpiresAt, stepUp?.urlExpiresAt.milliseconds)
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer, expiresAt: Timestamp) throws(VaultCryptoError) {
        let nothing = SecretBytes(copying: [])
        var draft = AuthorizationRequestRecord(
            state: nothing, codeVerifier: nothing, provider: ProviderHandle(.zero), userId: "",
            createdAt: Timestamp(milliseconds: 0), expiresAt: expiresAt)
        var record = unsafe RecordReader(plaintext)
        while let field = try record.next() { try draft.read(field) }
        guard !draft.state.isEmpty, !draft.codeVerifier.isEmpty, !draft.userId.isEmpty else {
            throw VaultCryptoError(.malformedRecord, "the log-in request lacks a field")
        }
        self = draft
    }

    private mutating func read(_ field: RecordField) throws(VaultCryptoError) {
        switch field.tag {
        case Tag.state: state = field.secret()
        case Tag.codeVerifier: codeVerifier = field.secret()
        case Tag.provider: provider = ProviderHandle(try field.bytes16())
        case Tag.userId: userId = try field.text()
        case Tag.redirectURI: redirectURI = try field.text()
        case Tag.scope: scope = try field.text()
        case Tag.dpopPrivateKey: dpopPrivateKey = field.secret()
        case Tag.label: label = try field.text()
        case Tag.createdAt: createdAt = try field.timestamp()
        case Tag.nonces: nonces = try field.textTable()
        case Tag.bindingHash: bindingHash = field.secret()
        case Tag.context: context = try field.textTable()
        case Tag.resources: resources = try field.texts()
        case Tag.idTokenNonce: idTokenNonce = field.secret()
        case Tag.maximumAge: maximumAge = try field.int64()
        case Tag.targetLogin:
            target = ReplacedLogin(login: LoginHandle(try field.bytes16()), chain: 0, acceptsOtherAccount: false)
        case Tag.targetChain: target?.chain = try field.int64()
        case Tag.variables: variables = try field.textTable()
        case Tag.resource: resource = try field.text()
        case Tag.stepUpURL:
            stepUp = PendingStepUp(
                url: field.secret(), binding: SecretBytes(copying: []), urlExpiresAt: Timestamp(milliseconds: 0))
        case Tag.stepUpBinding: stepUp?.binding = field.secret()
        case Tag.stepUpExpiresAt: stepUp?.urlExpiresAt = try field.timestamp()
        case Tag.acceptsOtherAccount: target?.acceptsOtherAccount = try field.bool()
        default: try field.ignoreIfOptional()
        }
    }

    static func associatedData(_ vault: Bytes16, _ index: BlindIndex, expiresAt: Timestamp) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "authorizationRequest")
        data.append(index.bytes)
        data.append(expiresAt.milliseconds)
        return data
    }
}
