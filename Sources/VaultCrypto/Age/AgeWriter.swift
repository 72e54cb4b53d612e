import CSodium

/// Seals an age file for X25519 recipients (<https://age-encryption.org/v1>) piece by piece. At most one chunk of 64
/// KiB is in memory. Used by one thread at a time.
@safe package final class AgeWriter {
    static let chunkByteCount = 65_536

    /// The header of the file, its first bytes.
    package let header: [UInt8]
    private let key: SealingKey
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    private var chunk: UInt64 = 0

    package init(for recipients: [Recipient]) throws(VaultCryptoError) {
        let made = try AgeHeader(for: recipients)
        header = made.bytes
        key = made.payloadKey
        unsafe buffer = .allocate(byteCount: Self.chunkByteCount, alignment: 16)
    }

    deinit {
        wipe()
        unsafe buffer.deallocate()
    }

    /// Returns the next bytes of the file; none while the chunk is not full.
    package func seal(_ plaintext: [UInt8]) -> [UInt8] {
        var sealed: [UInt8] = []
        var rest = plaintext[...]
        while !rest.isEmpty {
            // Only the last chunk may be partial, so a full chunk is sealed only when more data follows.
            if count == Self.chunkByteCount { sealed += sealChunk(isLast: false) }
            let piece = rest.prefix(Self.chunkByteCount - count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: piece)
            count += piece.count
            rest = rest.dropFirst(piece.count)
        }
        return sealed
    }

    /// Returns the last bytes of the file. Nothing can be sealed after it.
    package func finish() -> [UInt8] { sealChunk(isLast: true) }

    /// The nonce is an 11-byte counter and a flag for the last chunk.
    private func sealChunk(isLast: Bool) -> [UInt8] {
        var nonce: [UInt8] = [0, 0, 0]
        for shift in stride(from: 56, through: 0, by: -8) { nonce.append(UInt8(truncatingIfNeeded: chunk >> shift)) }
        nonce.append(isLast ? 1 : 0)
        let plaintext = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
        let sealed = unsafe AgeChunk.seal(plaintext, key: key, nonce: nonce)
        wipe()
        chunk += 1
        count = 0
        return sealed
    }

    private func wipe() {
        if let start = unsafe buffer.baseAddress { unsafe sodium_memzero(start, buffer.count) }
    }
}
