import CSodium

extension SealedCell {
    /// Seals a plaintext under a fresh random nonce.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, kind: CellKind, key: SealingKey,
        associatedData: borrowing AssociatedData
    ) throws(VaultCryptoError) -> [UInt8] {
        defer { withExtendedLifetime(key) {} }
        return try unsafe seal(
            plaintext, kind: kind, key: key.pointer, keyID: key.id, associatedData: associatedData,
            nonce: { unsafe randombytes_buf($0, nonceByteCount) }
        )
    }

    package static func seal(
        _ record: borrowing RecordWriter, kind: CellKind, key: SealingKey, associatedData: borrowing AssociatedData
    ) throws(VaultCryptoError) -> [UInt8] {
        try unsafe seal(record.bytes, kind: kind, key: key, associatedData: associatedData)
    }

    /// Seals under a key that is in scratch memory, such as a user's data key in that user's open cell.
    /// - Parameter key: exactly 32 bytes.
    package static func seal(
        _ record: borrowing RecordWriter, kind: CellKind, key: UnsafeRawBufferPointer, keyID: KeyID,
        associatedData: borrowing AssociatedData
    ) throws(VaultCryptoError) -> [UInt8] {
        let key = try unsafe checkedKey(key)
        return try unsafe seal(
            record.bytes, kind: kind, key: key, keyID: keyID, associatedData: associatedData,
            nonce: { unsafe randombytes_buf($0, nonceByteCount) }
        )
    }

    static func checkedKey(_ key: UnsafeRawBufferPointer) throws(VaultCryptoError) -> UnsafeRawPointer {
        guard key.count == SealingKey.byteCount, let base = key.baseAddress else {
            throw VaultCryptoError(.malformedRecord, "a key does not have 32 bytes")
        }
        return unsafe base
    }

    /// The construction itself. Only tests may call it, to make a cell that is the same in every run.
    static func seal(
        _ plaintext: UnsafeRawBufferPointer, kind: CellKind, key: UnsafeRawPointer, keyID: KeyID,
        associatedData: borrowing AssociatedData, nonce: (UnsafeMutableRawPointer) -> Void
    ) throws(VaultCryptoError) -> [UInt8] {
        guard !associatedData.isTooLong else {
            throw VaultCryptoError(.associatedDataTooLong, "the cell's associated data is too long")
        }
        guard plaintext.count <= maximumPlaintextByteCount else {
            throw VaultCryptoError(.plaintextTooLong, "the secret is too long for a cell")
        }
        let count = byteCount(forPlaintext: plaintext.count)
        var bytes = [UInt8](zeroes: count)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let cell = buffer.baseAddress else { return }
            unsafe CellHeader.write(kind: kind, keyID: keyID, to: cell)
            unsafe nonce(cell + nonceOffset)
            unsafe encrypt(plaintext, key: key, cell: cell, count: count, associatedData: associatedData)
        }
        return bytes
    }

    /// Writes everything after the nonce. The plaintext is padded and encrypted in its final place.
    private static func encrypt(
        _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawPointer, cell: UnsafeMutableRawPointer, count: Int,
        associatedData: borrowing AssociatedData
    ) {
        let content = unsafe (cell + ciphertextOffset).u8
        if let source = plaintext.baseAddress {
            unsafe UnsafeMutableRawPointer(content).copyMemory(from: source, byteCount: plaintext.count)
        }
        var paddedCount = 0
        unsafe _ = sodium_pad(&paddedCount, content, plaintext.count, paddingBlock, count - overhead)
        unsafe withUnsafeTemporaryAllocation(byteCount: workByteCount, alignment: 16) { work in
            guard let derived = work.baseAddress else { return }
            unsafe derive(
                key: key, cell: cell, associatedData: associatedData, work: derived + derivedByteCount, output: derived
            )
            unsafe (cell + commitmentOffset).copyMemory(from: derived + 32, byteCount: 32)
            unsafe _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                content, nil, content, UInt64(paddedCount), nil, 0, nil,
                (cell + nonceOffset).u8,
                derived.u8
            )
            unsafe sodium_memzero(derived, derivedByteCount)
        }
    }
}
