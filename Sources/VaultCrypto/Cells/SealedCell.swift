import CSodium

/// The one construction that protects the vault's secrets; `docs/vault-format.md` is its specification.
///
///     header (24) │ nonce (24) │ commitment (32) │ ciphertext (n × 128) │ tag (16)
///
/// `BLAKE2b-512(key, nonce ‖ header ‖ associated data)` gives the cell's own key and the commitment to it. No caller
/// chooses a nonce.
package enum SealedCell {
    package static let paddingBlock = 128
    /// The bytes that a cell adds to its padded plaintext.
    package static let overhead = 96
    package static let minimumByteCount = overhead + paddingBlock
    /// The maximum length of a cell, so that each fits into a row: a store must accept rows a little longer than this.
    package static let maximumByteCount = 900_000
    package static let maximumPlaintextByteCount = maximumByteCount - overhead - paddingBlock

    static let nonceOffset = CellHeader.byteCount
    static let nonceByteCount = 24
    static let commitmentOffset = 48
    static let ciphertextOffset = 80
    static let tagByteCount = 16

    /// The length of the cell of a plaintext.
    package static func byteCount(forPlaintext count: Int) -> Int {
        overhead + (count / paddingBlock + 1) * paddingBlock
    }

    /// The id of the key that a whole cell of this kind names. It is not authenticated yet.
    package static func keyID(
        of cell: UnsafeRawBufferPointer, kind: CellKind
    ) throws(VaultCryptoError) -> KeyID {
        let base = try unsafe checkedBase(of: cell)
        return try unsafe CellHeader.keyID(at: base, kind: kind)
    }

    /// The last 16 bytes of a cell, which identify all of it once it has been opened.
    package static func tag(of cell: UnsafeRawBufferPointer) throws(VaultCryptoError) -> CellTag {
        let base = try unsafe checkedBase(of: cell)
        return unsafe CellTag(Bytes16(loading: base + cell.count - tagByteCount))
    }

    package static func tag(of cell: [UInt8]) throws(VaultCryptoError) -> CellTag {
        try unsafe cell.withBytes { bytes throws(VaultCryptoError) in try unsafe tag(of: bytes) }
    }

    /// Checks a length before anything is read.
    static func checkedBase(of cell: UnsafeRawBufferPointer) throws(VaultCryptoError) -> UnsafeRawPointer {
        guard cell.count >= CellHeader.byteCount, let base = cell.baseAddress else {
            throw VaultCryptoError(.malformedCell, "the cell is shorter than its header")
        }
        return unsafe base
    }

    /// A cell key and its commitment: 64 bytes at `output`.
    ///
    /// The message is assembled in `work`, which has room for 48 bytes and the associated data.
    @inline(__always)
    static func derive(
        key: UnsafeRawPointer, cell: UnsafeRawPointer, associatedData: borrowing AssociatedData,
        work: UnsafeMutableRawPointer, output: UnsafeMutableRawPointer
    ) {
        unsafe work.copyMemory(from: cell + nonceOffset, byteCount: nonceByteCount)
        unsafe (work + nonceByteCount).copyMemory(from: cell, byteCount: CellHeader.byteCount)
        let prefix = nonceByteCount + CellHeader.byteCount
        unsafe associatedData.withUnsafeBytes { fields in
            guard let start = fields.baseAddress else { return }
            unsafe (work + prefix).copyMemory(from: start, byteCount: fields.count)
        }
        unsafe _ = crypto_generichash_blake2b(
            output.u8, 64,
            work.u8, UInt64(prefix + associatedData.count),
            key.u8, SealingKey.byteCount
        )
    }

    /// Derived bytes first, the message after them: one piece of stack.
    static let derivedByteCount = 64
    static let workByteCount = derivedByteCount + 48 + AssociatedData.capacity
}
