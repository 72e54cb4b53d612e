/// One field of a record: its tag, and its content in the record's own memory.
@safe package struct RecordField {
    package let tag: UInt8
    package let bytes: UnsafeRawBufferPointer

    /// The first tag that a reader may ignore if it does not know it.
    package static let firstOptionalTag: UInt8 = 128

    /// Handles an unknown tag: below 128 the record is rejected; from 128 the field is skipped, and lost when the
    /// record is next written.
    package func ignoreIfOptional() throws(VaultCryptoError) {
        guard tag >= Self.firstOptionalTag else {
            throw VaultCryptoError(
                .unknownField, "a record holds a field that this version does not know",
                hint: "a newer version wrote it; use that one"
            )
        }
    }

    package func uint8() throws(VaultCryptoError) -> UInt8 {
        guard unsafe bytes.count == 1 else { throw wrongLength }
        return unsafe bytes[0]
    }

    package func bool() throws(VaultCryptoError) -> Bool {
        switch try uint8() {
        case 0: return false
        case 1: return true
        default: throw VaultCryptoError(.malformedRecord, "a record has a boolean that is neither 0 nor 1")
        }
    }

    package func int64() throws(VaultCryptoError) -> Int64 {
        guard unsafe bytes.count == 8 else { throw wrongLength }
        return unsafe Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    }

    package func bytes16() throws(VaultCryptoError) -> Bytes16 {
        guard let value = unsafe Bytes16(bytes) else { throw wrongLength }
        return value
    }

    /// The content, if it is a 32-byte key.
    package func keyBytes() throws(VaultCryptoError) -> UnsafeRawBufferPointer {
        guard unsafe bytes.count == SealingKey.byteCount else { throw wrongLength }
        return unsafe bytes
    }

    package func text() throws(VaultCryptoError) -> String {
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw VaultCryptoError(.malformedRecord, "a record holds text that is not UTF-8")
        }
        return text
    }

    /// A copy that is wiped when it is released.
    package func secret() -> SecretBytes { unsafe SecretBytes(copying: bytes) }

    /// The content, read as a nested record.
    package func record() -> RecordReader { unsafe RecordReader(bytes) }

    /// The content, read as a list.
    package func elements() -> RecordElements { unsafe RecordElements(bytes) }

    private var wrongLength: VaultCryptoError {
        VaultCryptoError(.malformedRecord, "a record holds a field of the wrong length")
    }
}
