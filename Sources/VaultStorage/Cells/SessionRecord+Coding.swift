import VaultCrypto

extension SessionRecord {
    fileprivate enum Tag {
        static let state: UInt8 = 1
        static let accessToken: UInt8 = 2
        /// Absent: `Bearer`.
        static let tokenType: UInt8 = 3
        static let scope: UInt8 = 4
        static let createdAt: UInt8 = 5
        static let obtainedAt: UInt8 = 6
        static let expiresAt: UInt8 = 7
        static let terminationReason: UInt8 = 8
        static let failureReason: UInt8 = 9
        static let failedAt: UInt8 = 10
        static let notifiedFailure: UInt8 = 11
        static let notBefore: UInt8 = 12
        static let attempts: UInt8 = 13
        static let rejectedGeneration: UInt8 = 14
        static let rejectionCount: UInt8 = 15
        static let rejectedSince: UInt8 = 16
        static let label: UInt8 = 17
        static let grantedScope: UInt8 = 18
        static let subject: UInt8 = 19
        static let doubtCause: UInt8 = 20
        static let cameAfterDoubt: UInt8 = 21
        static let resourceTokens: UInt8 = 22
        /// Absent: the row's generation.
        static let accessGeneration: UInt8 = 23
        static let attributes: UInt8 = 24
        static let isExpiryAssumed: UInt8 = 25
        static let origin: UInt8 = 26
        static let metadata: UInt8 = 27
        static let resource: UInt8 = 28
        static let requestedScope: UInt8 = 29
        static let repeatedConsents: UInt8 = 30
        static let hasMoved: UInt8 = 31
        // From 128 on: no decision depends on the field, so an older version may skip it.
        static let lastRefusal: UInt8 = 128
        static let grantedAt: UInt8 = 129
    }

    static let defaultTokenType = "Bearer"

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 256 + (accessToken?.count ?? 0))
        record.append(Tag.state, state.rawValue)
        record.append(Tag.accessToken, accessToken)
        if tokenType != Self.defaultTokenType { record.append(Tag.tokenType, tokenType) }
        record.append(Tag.scope, scope)
        record.append(Tag.createdAt, createdAt.milliseconds)
        record.append(Tag.obtainedAt, obtainedAt.milliseconds)
        record.append(Tag.expiresAt, expiresAt?.milliseconds)
        record.append(Tag.terminationReason, terminationReason)
        record.append(Tag.failureReason, failure?.reason)
        record.append(Tag.failedAt, failure?.at.milliseconds)
        if notifiedFailure { record.append(Tag.notifiedFailure, true) }
        record.append(Tag.notBefore, notBefore?.milliseconds)
        if attempts != 0 { record.append(Tag.attempts, Int64(attempts)) }
        record.append(Tag.rejectedGeneration, rejectedGeneration)
        record.append(Tag.rejectionCount, rejections.map { Int64($0.count) })
        record.append(Tag.rejectedSince, rejections?.since.milliseconds)
        record.append(Tag.label, label)
        record.append(Tag.grantedScope, grantedScope)
        record.append(Tag.subject, subject)
        record.append(Tag.doubtCause, doubtCause)
        if cameAfterDoubt { record.append(Tag.cameAfterDoubt, true) }
        if !resourceTokens.isEmpty {
            var tokens = RecordList(capacity: 2_048)
            for token in resourceTokens { tokens.append(token.encoded()) }
            record.append(Tag.resourceTokens, list: tokens)
        }
        record.append(Tag.accessGeneration, accessGeneration)
        record.append(Tag.attributes, attributes)
        if isExpiryAssumed { record.append(Tag.isExpiryAssumed, true) }
        if let origin { record.append(Tag.origin, record: origin.encoded()) }
        record.append(Tag.metadata, metadata)
        record.append(Tag.resource, resource)
        record.append(Tag.requestedScope, requestedScope)
        if repeatedConsents != 0 { record.append(Tag.repeatedConsents, repeatedConsents) }
        if hasMoved { record.append(Tag.hasMoved, true) }
        if let lastRefusal { record.append(Tag.lastRefusal, record: lastRefusal.encoded()) }
        record.append(Tag.grantedAt, grantedAt?.milliseconds)
        return record
    }

    init(_ plaintext: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        let epoch = Timestamp(milliseconds: 0)
        self.init(state: .establishing, tokenType: Self.defaultTokenType, createdAt: epoch, obtainedAt: epoch)
        var record = unsafe RecordReader(plaintext)
        var extras: SessionExtras.Values?
        var hasState = false
        while let field = try record.next() {
            if field.tag == Tag.state { hasState = true }
            try read(field, &extras)
        }
        if let extras { set(extras) }
        guard hasState else { throw VaultCryptoError(.malformedRecord, "the session cell lacks a field") }
    }

    private mutating func read(
        _ field: RecordField, _ extras: inout SessionExtras.Values?
    ) throws(VaultCryptoError) {
        switch field.tag {
        case Tag.state:
            guard let value = SessionStateCode(rawValue: try field.uint8()) else {
                throw VaultCryptoError(.malformedRecord, "the session has a state that this version does not know")
            }
            state = value
        case Tag.accessToken: accessToken = field.secret()
        case Tag.tokenType: tokenType = try field.text()
        case Tag.scope: scope = try field.text()
        case Tag.createdAt: createdAt = try field.timestamp()
        case Tag.obtainedAt: obtainedAt = try field.timestamp()
        case Tag.expiresAt: expiresAt = try field.timestamp()
        case Tag.isExpiryAssumed: isExpiryAssumed = try field.bool()
        case Tag.accessGeneration: accessGeneration = try field.int64()
        case Tag.grantedAt: grantedAt = try field.timestamp()
        case Tag.label, Tag.grantedScope, Tag.subject, Tag.attributes, Tag.metadata, Tag.origin, Tag.resourceTokens,
            Tag.lastRefusal, Tag.resource, Tag.requestedScope, Tag.repeatedConsents, Tag.hasMoved:
            // Most sessions have none of these fields, and every read of a token runs this code.
            var values = extras ?? SessionExtras.Values()
            extras = nil
            try values.read(field)
            extras = values
        default: try readTrouble(field)
        }
    }

    /// The fields that a healthy session does not have.
    private mutating func readTrouble(_ field: RecordField) throws(VaultCryptoError) {
        switch field.tag {
        case Tag.terminationReason: terminationReason = try field.uint8()
        case Tag.failureReason:
            failure = FailureRecord(reason: try field.uint8(), at: Timestamp(milliseconds: 0))
        case Tag.failedAt: failure?.at = try field.timestamp()
        case Tag.notifiedFailure: notifiedFailure = try field.bool()
        case Tag.notBefore: notBefore = try field.timestamp()
        case Tag.attempts: attempts = Int(try field.int64())
        case Tag.rejectedGeneration: rejectedGeneration = try field.int64()
        case Tag.rejectionCount:
            rejections = RejectionHistory(count: Int(try field.int64()), since: Timestamp(milliseconds: 0))
        case Tag.rejectedSince: rejections?.since = try field.timestamp()
        case Tag.doubtCause: doubtCause = try field.uint8()
        case Tag.cameAfterDoubt: cameAfterDoubt = try field.bool()
        default: try field.ignoreIfOptional()
        }
    }
}

extension SessionExtras.Values {
    fileprivate mutating func read(_ field: RecordField) throws(VaultCryptoError) {
        switch field.tag {
        case SessionRecord.Tag.label: label = try field.text()
        case SessionRecord.Tag.grantedScope: grantedScope = try field.text()
        case SessionRecord.Tag.subject: subject = try field.text()
        case SessionRecord.Tag.attributes: attributes = try field.textTable()
        case SessionRecord.Tag.metadata: metadata = try field.textTable()
        case SessionRecord.Tag.origin: origin = try ImportOrigin(field)
        case SessionRecord.Tag.resourceTokens: resourceTokens = try field.resourceTokens()
        case SessionRecord.Tag.resource: resource = try field.text()
        case SessionRecord.Tag.requestedScope: requestedScope = try field.text()
        case SessionRecord.Tag.repeatedConsents: repeatedConsents = try field.int64()
        case SessionRecord.Tag.hasMoved: hasMoved = try field.bool()
        default: lastRefusal = try RefusalRecord(field)
        }
    }
}
