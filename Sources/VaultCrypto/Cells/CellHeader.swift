/// The 24 bytes before a cell's nonce: magic, format, suite, kind, flags, key id.
enum CellHeader {
    static let byteCount = 24
    static let magic: [UInt8] = Array("TVCL".utf8)
    static let format: UInt8 = 1
    static let suite: UInt8 = 1
    static let flags: UInt8 = 0

    /// Magic, format, suite, kind and flags as one word: the start of every valid header of this kind.
    private static func word(_ kind: CellKind) -> UInt64 {
        let magic: UInt64 = 0x4C43_5654
        let version = UInt64(format) << 32 | UInt64(suite) << 40
        return (magic | version | UInt64(kind.rawValue) << 48 | UInt64(flags) << 56).littleEndian
    }

    /// - Parameter target: at least 24 writable bytes.
    static func write(kind: CellKind, keyID: KeyID, to target: UnsafeMutableRawPointer) {
        unsafe target.storeBytes(of: word(kind), as: UInt64.self)
        unsafe (target + 8).storeBytes(of: keyID.bytes, as: Bytes16.self)
    }

    /// The key id of a header that is valid for `kind`. Throws the first defect otherwise.
    /// - Parameter cell: at least 24 readable bytes.
    static func keyID(at cell: UnsafeRawPointer, kind: CellKind) throws(VaultCryptoError) -> KeyID {
        guard unsafe cell.loadUnaligned(as: UInt64.self) == word(kind) else {
            throw unsafe defect(at: cell)
        }
        return unsafe KeyID(Bytes16(loading: cell + 8))
    }

    /// The reason why a header is not the expected one, checked in the order of the fields.
    private static func defect(at cell: UnsafeRawPointer) -> VaultCryptoError {
        let bytes = unsafe UnsafeRawBufferPointer(start: cell, count: byteCount)
        if unsafe !bytes.prefix(4).elementsEqual(magic) {
            return VaultCryptoError(.malformedCell, "this is not a sealed cell")
        }
        if unsafe bytes[4] != format {
            return VaultCryptoError(.unknownFormat, "the cell has a format that this version does not know")
        }
        if unsafe bytes[5] != suite {
            return VaultCryptoError(.unknownSuite, "the cell names a cipher suite that this version does not know")
        }
        if unsafe CellKind(rawValue: bytes[6]) == nil {
            return VaultCryptoError(.unknownKind, "the cell is of a kind that this version does not know")
        }
        if unsafe bytes[7] != flags {
            return VaultCryptoError(.unknownFlags, "the cell has flags that this version does not know")
        }
        return VaultCryptoError(.wrongKind, "the cell has the wrong kind for its place")
    }
}
