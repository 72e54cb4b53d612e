import VaultCrypto

extension TrailPruning {
    private enum Tag {
        static let first: UInt8 = 1
        static let through: UInt8 = 2
        static let link: UInt8 = 3
        static let removed: UInt8 = 4
        /// Absent: none.
        static let damaged: UInt8 = 5
        static let kept: UInt8 = 6
        static let keptMarks: UInt8 = 7
        static let keySlots: UInt8 = 8
        static let revocations: UInt8 = 9
    }

    func encoded() -> RecordWriter {
        var record = RecordWriter(capacity: 128)
        record.append(Tag.first, first)
        record.append(Tag.through, through)
        record.append(Tag.link, link)
        record.append(Tag.removed, removed)
        if damaged != 0 { record.append(Tag.damaged, damaged) }
        record.append(Tag.kept, kept)
        record.append(Tag.keptMarks, keptMarks)
        record.append(Tag.keySlots, keySlots)
        record.append(Tag.revocations, revocations)
        return record
    }

    init(_ field: RecordField) throws(VaultCryptoError) {
        var pruning = TrailPruning.none
        var record = field.record()
        while let field = try record.next() {
            switch field.tag {
            case Tag.first: pruning.first = try field.int64()
            case Tag.through: pruning.through = try field.int64()
            case Tag.link: pruning.link = try field.link()
            case Tag.removed: pruning.removed = try field.int64()
            case Tag.damaged: pruning.damaged = try field.int64()
            case Tag.kept: pruning.kept = try field.int64()
            case Tag.keptMarks: pruning.keptMarks = try field.link()
            case Tag.keySlots: pruning.keySlots = try field.int64()
            case Tag.revocations: pruning.revocations = try field.int64()
            default: try field.ignoreIfOptional()
            }
        }
        self = pruning
    }

    /// The state of a trail that was never pruned. A new vault has one key slot.
    static let none = TrailPruning(
        first: 1, through: 0, link: .genesis, removed: 0, kept: 0, keptMarks: .genesis, keySlots: 1, revocations: 0)

    /// The contribution of the row with this number and link to ``keptMarks``. Without the key it is infeasible to find
    /// two sets of rows with the same result.
    ///
    /// - Parameter key: the key of the row that records ``keptMarks``.
    static func mark(of sequence: Int64, _ link: AuditMAC, _ vault: Bytes16, under key: SealingKey) -> AuditMAC {
        var data = AssociatedData(vault: vault, table: "auditKept")
        data.append(sequence)
        return Keyring.auditMAC(previous: link, row: data, under: key)
    }

    /// Counts the effect of a row on the expected number of key slots and pending revocations.
    mutating func count(_ kind: AuditKind) {
        switch kind {
        case .keySlotAdded: keySlots &+= 1
        case .keySlotRemoved: keySlots &-= 1
        case .revocationQueued: revocations &+= 1
        case .revocationConfirmed, .revocationAbandoned: revocations &-= 1
        default: break
        }
    }
}

extension RecordField {
    fileprivate func link() throws(VaultCryptoError) -> AuditMAC {
        guard let link = unsafe AuditMAC(try keyBytes()) else {
            throw VaultCryptoError(.malformedRecord, "a record holds a link of the wrong length")
        }
        return link
    }
}

extension RecordWriter {
    fileprivate mutating func append(_ tag: UInt8, _ link: AuditMAC) {
        unsafe link.array.withUnsafeBytes { unsafe append(tag, bytes: $0) }
    }
}
