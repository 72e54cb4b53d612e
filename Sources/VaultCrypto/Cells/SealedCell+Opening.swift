import CSodium

extension SealedCell {
    /// Opens a cell and lends its plaintext, which is in scratch memory and is wiped when `body` returns.
    ///
    /// Nothing is allocated, unless the cell is too long for the scratch.
    @inlinable
    package static func open<R>(
        _ cell: UnsafeRawBufferPointer, kind: CellKind, key: SealingKey, associatedData: borrowing AssociatedData,
        scratch: CellScratch, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let opened = try unsafe Opened(cell, kind: kind, key: key, associatedData: associatedData, scratch: scratch)
        defer { opened.wipe(scratch) }
        return try unsafe body(opened.plaintext)
    }

    /// Opens a cell with a key that is in scratch memory itself: the data key in an open user cell.
    /// - Parameter key: exactly 32 bytes.
    @inlinable
    package static func open<R>(
        _ cell: UnsafeRawBufferPointer, kind: CellKind, key: UnsafeRawBufferPointer, keyID: KeyID,
        associatedData: borrowing AssociatedData, scratch: CellScratch,
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let opened = try unsafe Opened(
            cell, kind: kind, key: key, keyID: keyID, associatedData: associatedData, scratch: scratch
        )
        defer { opened.wipe(scratch) }
        return try unsafe body(opened.plaintext)
    }

    /// Opens a cell away from the hot path, in its own scratch.
    package static func open<R>(
        _ cell: UnsafeRawBufferPointer, kind: CellKind, key: SealingKey, associatedData: borrowing AssociatedData,
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let scratch = try CellScratch(byteCount: max(cell.count, minimumByteCount))
        return try unsafe open(
            cell, kind: kind, key: key, associatedData: associatedData, scratch: scratch, body
        )
    }

    /// A plaintext in scratch memory. The caller that makes one must wipe it.
    @safe package struct Opened {
        let buffer: UnsafeMutableRawBufferPointer
        package let plaintext: UnsafeRawBufferPointer

        package init(
            _ cell: UnsafeRawBufferPointer, kind: CellKind, key: SealingKey,
            associatedData: borrowing AssociatedData, scratch: CellScratch
        ) throws(VaultCryptoError) {
            defer { withExtendedLifetime(key) {} }
            unsafe self = try decrypt(
                cell, kind: kind, key: key.pointer, keyID: key.id, associatedData: associatedData, scratch: scratch
            )
        }

        package init(
            _ cell: UnsafeRawBufferPointer, kind: CellKind, key: UnsafeRawBufferPointer, keyID: KeyID,
            associatedData: borrowing AssociatedData, scratch: CellScratch
        ) throws(VaultCryptoError) {
            let key = try unsafe checkedKey(key)
            unsafe self = try decrypt(
                cell, kind: kind, key: key, keyID: keyID, associatedData: associatedData, scratch: scratch
            )
        }

        init(buffer: UnsafeMutableRawBufferPointer, count: Int) {
            unsafe self.buffer = buffer
            unsafe plaintext = UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
        }

        package func wipe(_ scratch: CellScratch) {
            unsafe scratch.wipeAndRelease(buffer)
        }
    }

    private static func decrypt(
        _ cell: UnsafeRawBufferPointer, kind: CellKind, key: UnsafeRawPointer, keyID: KeyID,
        associatedData: borrowing AssociatedData, scratch: CellScratch
    ) throws(VaultCryptoError) -> Opened {
        let base = try unsafe checkedBase(of: cell)
        let named = try unsafe CellHeader.keyID(at: base, kind: kind)
        guard cell.count >= minimumByteCount, (cell.count - overhead) % paddingBlock == 0,
            cell.count <= maximumByteCount
        else {
            throw VaultCryptoError(.malformedCell, "the cell has an invalid length")
        }
        guard named == keyID else {
            throw VaultCryptoError(.unknownKey, "the cell is sealed with another key")
        }
        guard !associatedData.isTooLong else {
            throw VaultCryptoError(.associatedDataTooLong, "the cell's associated data is too long")
        }
        let target = unsafe scratch.reserve(cell.count - overhead)
        let outcome = unsafe decrypt(base, count: cell.count, key: key, associatedData: associatedData, into: target)
        if case .opened(let count) = outcome { return unsafe Opened(buffer: target, count: count) }
        unsafe scratch.wipeAndRelease(target)
        throw outcome.error
    }

    /// The end of the plaintext: the position of the last `0x80`, which only zeros follow.
    ///
    /// `sodium_unpad` checks each of 128 bytes in constant time, a sixth of the time of a whole read. It would hide the
    /// length, but every reader of the plaintext depends on the length anyway; and the bytes are authentic.
    static func unpaddedCount(_ padded: UnsafeRawPointer, _ count: Int) -> Int? {
        for offset in stride(from: count - 8, through: count - paddingBlock, by: -8) {
            let word = unsafe UInt64(littleEndian: padded.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if word == 0 { continue }
            let mark = 7 - word.leadingZeroBitCount / 8
            return UInt8(truncatingIfNeeded: word >> (mark * 8)) == 0x80 ? offset + mark : nil
        }
        return nil
    }

    private enum Outcome {
        case opened(Int)
        case wrongCommitment
        case wrongTag
        case wrongPadding

        var error: VaultCryptoError {
            switch self {
            case .opened, .wrongPadding:
                VaultCryptoError(.malformedPadding, "the cell's padding is invalid")
            case .wrongCommitment:
                VaultCryptoError(
                    .authenticationFailed(.commitment), "the cell does not belong to this key and place, or is damaged")
            case .wrongTag:
                VaultCryptoError(.authenticationFailed(.tag), "the cell's content is damaged")
            }
        }
    }

    /// - Parameter target: as long as the ciphertext.
    private static func decrypt(
        _ cell: UnsafeRawPointer, count: Int, key: UnsafeRawPointer, associatedData: borrowing AssociatedData,
        into target: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        unsafe withUnsafeTemporaryAllocation(byteCount: workByteCount, alignment: 16) { work in
            guard let derived = work.baseAddress, let plaintext = target.baseAddress else { return .wrongPadding }
            unsafe derive(
                key: key, cell: cell, associatedData: associatedData, work: derived + derivedByteCount, output: derived
            )
            defer { unsafe sodium_memzero(derived, derivedByteCount) }
            guard unsafe sodium_memcmp(derived + 32, cell + commitmentOffset, 32) == 0 else { return .wrongCommitment }
            let bytes = unsafe plaintext.u8
            let status = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                bytes, nil, nil,
                (cell + ciphertextOffset).u8, UInt64(count - ciphertextOffset),
                nil, 0,
                (cell + nonceOffset).u8, derived.u8
            )
            guard status == 0 else { return .wrongTag }
            guard let unpadded = unsafe SealedCell.unpaddedCount(UnsafeRawPointer(plaintext), target.count) else {
                return .wrongPadding
            }
            return .opened(unpadded)
        }
    }
}
