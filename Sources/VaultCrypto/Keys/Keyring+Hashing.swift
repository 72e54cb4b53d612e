import CSodium

extension Keyring {
    /// What a blind index stands for; the same bytes give different indexes in different domains.
    package enum IndexDomain: Sendable {
        case userId
        case authorizationState
        /// In normalization form C: names are the same that Unicode calls canonically equivalent.
        case providerName
    }

    /// The index under which a row is found by a value that the file must not show.
    package func blindIndex(of value: UnsafeRawBufferPointer, domain: IndexDomain) -> BlindIndex {
        var index = Bytes16.zero
        let hashDomain: KeyedHash.Domain =
            switch domain {
            case .userId: .userIndex
            case .authorizationState: .stateIndex
            case .providerName: .nameIndex
            }
        unsafe KeyedHash.hash(value, key: indexKey.pointer, domain: hashDomain, into: &index)
        return BlindIndex(index)
    }

    package func blindIndex(ofUserId userId: String) -> BlindIndex {
        var userId = userId
        return userId.withUTF8 { unsafe blindIndex(of: UnsafeRawBufferPointer($0), domain: .userId) }
    }

    /// The next link of the audit chain: `BLAKE2b-256(audit key, previous link ‖ row)`.
    package func auditMAC(previous: AuditMAC, row: UnsafeRawBufferPointer) -> AuditMAC {
        let message = unsafe previous.array + row
        var result = AuditMAC.genesis
        unsafe withUnsafeMutableBytes(of: &result) { output in
            guard let target = output.baseAddress else { return }
            unsafe _ = crypto_generichash_blake2b(
                target.u8, output.count, message, UInt64(message.count), auditKey.pointer.u8, SealingKey.byteCount
            )
        }
        return result
    }

    /// Guards what a witness remembers of the audit chain.
    package func witnessMAC(of statement: [UInt8]) -> Bytes16 {
        var mac = Bytes16.zero
        unsafe KeyedHash.hash(statement, key: auditKey.pointer, domain: .witness, into: &mac)
        return mac
    }

    package func auditMAC(previous: AuditMAC, row: borrowing AssociatedData) -> AuditMAC {
        unsafe row.withUnsafeBytes { unsafe auditMAC(previous: previous, row: $0) }
    }
}
