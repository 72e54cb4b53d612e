import CSodium

extension Keyring {
    /// The kind of value that a blind index looks up; the same bytes give different indexes in different domains.
    package enum IndexDomain: Sendable {
        case userId
        case authorizationState
        /// In normalization form C: canonically equivalent names are equal.
        case providerName
    }

    /// The index for looking up a row by a value that the file must not reveal.
    package func blindIndex(of value: UnsafeRawBufferPointer, domain: IndexDomain) -> BlindIndex {
        unsafe Self.blindIndex(of: value, domain, indexKey)
    }

    package func blindIndex(ofUserId userId: String) -> BlindIndex {
        var userId = userId
        return userId.withUTF8 { unsafe blindIndex(of: UnsafeRawBufferPointer($0), domain: .userId) }
    }

    /// All indexes that may find the row of a value.
    package func blindIndexes(of value: UnsafeRawBufferPointer, domain: IndexDomain) -> BlindIndexes {
        unsafe BlindIndexes(
            current: blindIndex(of: value, domain: domain),
            former: formerIndexKey.map { unsafe Self.blindIndex(of: value, domain, $0) })
    }

    package func blindIndexes(ofUserId userId: String) -> BlindIndexes {
        var userId = userId
        return userId.withUTF8 { unsafe blindIndexes(of: UnsafeRawBufferPointer($0), domain: .userId) }
    }

    private static func blindIndex(
        of value: UnsafeRawBufferPointer, _ domain: IndexDomain, _ key: SealingKey
    ) -> BlindIndex {
        var index = Bytes16.zero
        let hashDomain: KeyedHash.Domain =
            switch domain {
            case .userId: .userIndex
            case .authorizationState: .stateIndex
            case .providerName: .nameIndex
            }
        unsafe KeyedHash.hash(value, key: key.pointer, domain: hashDomain, into: &index)
        return BlindIndex(index)
    }

    /// The next link of the audit chain: `BLAKE2b-256(audit key, previous link ‖ row)`.
    package func auditMAC(previous: AuditMAC, row: UnsafeRawBufferPointer) -> AuditMAC {
        unsafe Self.auditMAC(previous: previous, row: row, auditKey)
    }

    package func auditMAC(previous: AuditMAC, row: borrowing AssociatedData) -> AuditMAC {
        Self.auditMAC(previous: previous, row: row, under: auditKey)
    }

    /// The same under another key of the audit trail.
    package static func auditMAC(
        previous: AuditMAC, row: borrowing AssociatedData, under key: SealingKey
    ) -> AuditMAC {
        unsafe row.withUnsafeBytes { unsafe auditMAC(previous: previous, row: $0, key) }
    }

    private static func auditMAC(
        previous: AuditMAC, row: UnsafeRawBufferPointer, _ key: SealingKey
    ) -> AuditMAC {
        let count = AuditMAC.byteCount + row.count
        var result = AuditMAC.genesis
        unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { message in
            unsafe previous.withUnsafeBytes { unsafe message.copyMemory(from: $0) }
            unsafe UnsafeMutableRawBufferPointer(rebasing: message[AuditMAC.byteCount...]).copyMemory(from: row)
            unsafe withUnsafeMutableBytes(of: &result) { output in
                guard let target = output.baseAddress, let source = message.baseAddress else { return }
                unsafe _ = crypto_generichash_blake2b(
                    target.u8, output.count, source.u8, UInt64(count), key.pointer.u8, SealingKey.byteCount)
            }
        }
        return result
    }

    /// Authenticates a witness's record of the audit chain up to this row.
    package func witnessMAC(of statement: [UInt8], upTo sequence: Int64) -> Bytes16 {
        var mac = Bytes16.zero
        unsafe KeyedHash.hash(
            statement, key: auditKey(ofRow: sequence).pointer, domain: .witness, into: &mac)
        return mac
    }
}

/// The indexes of one value; there are two while the index key is being replaced.
package struct BlindIndexes: Sendable {
    package let current: BlindIndex
    package let former: BlindIndex?

    package var all: [BlindIndex] { former.map { [current, $0] } ?? [current] }

    package func contains(_ index: BlindIndex) -> Bool { index == current || index == former }
}
