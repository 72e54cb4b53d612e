import VaultCrypto

extension LoginSnapshot {
    private enum Tag {
        /// Absent: the login is gone.
        static let state: UInt8 = 1
        static let isNew: UInt8 = 2
        static let generation: UInt8 = 3
        static let expiresAt: UInt8 = 4
        static let isExpiryUnknown: UInt8 = 5
        /// Absent: ``generation``.
        static let tokenGeneration: UInt8 = 6
        static let failureReason: UInt8 = 7
        static let failedAt: UInt8 = 8
        static let terminationReason: UInt8 = 9
        static let refreshExpiresAt: UInt8 = 10
        static let grantedAt: UInt8 = 11
        static let provider: UInt8 = 12
        // From 128 on: no decision depends on the field.
        static let isRecovery: UInt8 = 128
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 96)
        record.append(Tag.state, state?.code.rawValue)
        if isNew { record.append(Tag.isNew, true) }
        record.append(Tag.generation, generation)
        record.append(Tag.expiresAt, token?.expiresAt?.milliseconds)
        if let token, token.expiresAt == nil { record.append(Tag.isExpiryUnknown, true) }
        if let token, token.generation != generation { record.append(Tag.tokenGeneration, token.generation) }
        switch state {
        case .refreshFailed(let failure):
            record.append(Tag.failureReason, failure.reason)
            record.append(Tag.failedAt, failure.at.milliseconds)
        case .terminated(let reason): record.append(Tag.terminationReason, reason)
        case .establishing, .established, .tokenExpired, nil: break
        }
        record.append(Tag.refreshExpiresAt, refreshExpiresAt?.milliseconds)
        record.append(Tag.grantedAt, grant?.since.milliseconds)
        record.append(Tag.provider, grant?.provider.bytes)
        if isRecovery { record.append(Tag.isRecovery, true) }
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        self.init(state: nil, generation: 0)
        var parts = Parts()
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.state: parts.code = try field.uint8()
            case Tag.isNew: isNew = try field.bool()
            case Tag.generation: generation = try field.int64()
            case Tag.expiresAt: parts.expiresAt = try field.timestamp()
            case Tag.isExpiryUnknown: parts.isExpiryUnknown = try field.bool()
            case Tag.tokenGeneration: parts.tokenGeneration = try field.int64()
            case Tag.failureReason: parts.failureReason = try field.uint8()
            case Tag.failedAt: parts.failedAt = try field.timestamp()
            case Tag.terminationReason: parts.terminationReason = try field.uint8()
            case Tag.refreshExpiresAt: refreshExpiresAt = try field.timestamp()
            case Tag.grantedAt: parts.grantedAt = try field.timestamp()
            case Tag.provider: parts.provider = ProviderHandle(try field.bytes16())
            case Tag.isRecovery: isRecovery = try field.bool()
            default: try field.ignoreIfOptional()
            }
        }
        state = try parts.state()
        token = parts.token(generation)
        if let since = parts.grantedAt, let provider = parts.provider {
            grant = Grant(since: since, provider: provider)
        }
    }

    /// Values that are spread over several fields.
    private struct Parts {
        var code: UInt8?
        var expiresAt: Timestamp?
        var isExpiryUnknown = false
        var tokenGeneration: Int64?
        var failureReason: UInt8?
        var failedAt: Timestamp?
        var terminationReason: UInt8?
        var grantedAt: Timestamp?
        var provider: ProviderHandle?

        func state() throws(VaultCryptoError) -> SessionSummary? {
            guard let code else { return nil }
            switch SessionStateCode(rawValue: code) {
            case .establishing: return .establishing
            case .established: return .established
            case .tokenExpired:
                guard let failureReason, let failedAt else { return .tokenExpired }
                return .refreshFailed(FailureRecord(reason: failureReason, at: failedAt))
            case .terminated: return .terminated(terminationReason ?? 0)
            case nil:
                throw VaultCryptoError(.malformedRecord, "an audit row holds a state that this version does not know")
            }
        }

        func token(_ generation: Int64) -> Token? {
            guard expiresAt != nil || isExpiryUnknown else { return nil }
            return Token(generation: tokenGeneration ?? generation, expiresAt: expiresAt)
        }
    }
}

extension SessionSummary {
    /// A dead login is an expired one with a failure.
    fileprivate var code: SessionStateCode {
        switch self {
        case .establishing: .establishing
        case .established: .established
        case .tokenExpired, .refreshFailed: .tokenExpired
        case .terminated: .terminated
        }
    }
}
