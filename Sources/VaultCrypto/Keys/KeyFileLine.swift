import CSodium

/// The text of a key file.
package enum KeyFileLine {
    static let prefix = Array("tokenvault-key-1 ".utf8)
    static let checksumByteCount = 8

    /// Offsets of the parts from the start of the line.
    private static let idRange = prefix.count..<(prefix.count + 26)
    private static let keyRange = (idRange.upperBound + 1)..<(idRange.upperBound + 53)
    private static let checksumRange = (keyRange.upperBound + 1)..<(keyRange.upperBound + 14)
    private static let space = UInt8(ascii: " ")
    private static let newline = UInt8(ascii: "\n")
    static let byteCount = checksumRange.upperBound + 1

    package static func encode(_ key: SealingKey) -> SecretBytes {
        unsafe SecretBytes(count: byteCount) { line in
            unsafe line.copyBytes(from: prefix)
            unsafe line[idRange.upperBound] = space
            unsafe line[keyRange.upperBound] = space
            unsafe line[byteCount - 1] = newline
            unsafe key.id.bytes.withUnsafeBytes { unsafe Base32.encode($0, to: part(line, idRange)) }
            unsafe key.withUnsafeBytes { unsafe Base32.encode($0, to: part(line, keyRange)) }
            let checksum = unsafe checksum(of: UnsafeRawBufferPointer(line))
            unsafe checksum.withUnsafeBytes { unsafe Base32.encode($0, to: part(line, checksumRange)) }
        }
    }

    package static func decode(_ contents: SecretBytes) throws(VaultCryptoError) -> SealingKey {
        try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            let defect = unsafe contents.withUnsafeBytes { unsafe parse($0, to: target) }
            if let defect { throw defect }
        }
    }

    /// Writes the key to `target`, or returns the defect.
    private static func parse(
        _ text: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) -> VaultCryptoError? {
        if let defect = unsafe shapeDefect(of: text) { return defect }
        let line = unsafe UnsafeMutableRawBufferPointer(mutating: text)
        var id = Bytes16.zero
        let hasID = unsafe withUnsafeMutableBytes(of: &id) { id in
            unsafe Base32.decode(UnsafeRawBufferPointer(part(line, idRange)), to: id)
        }
        guard hasID, unsafe Base32.decode(UnsafeRawBufferPointer(part(line, keyRange)), to: target) else {
            return malformed("the key file has invalid characters")
        }
        var written = [UInt8](repeating: 0, count: checksumByteCount)
        let hasChecksum = unsafe written.withUnsafeMutableBytes { written in
            unsafe Base32.decode(UnsafeRawBufferPointer(part(line, checksumRange)), to: written)
        }
        guard hasChecksum, unsafe written == checksum(of: text) else {
            return malformed("the key file's checksum does not match: a character in it was changed")
        }
        guard let key = target.baseAddress, unsafe KeyID.derived(from: key) == KeyID(id) else {
            return malformed("the key file's id does not belong to its key")
        }
        return nil
    }

    /// The defect in the length or the fixed characters, checked before anything is decoded.
    private static func shapeDefect(of text: UnsafeRawBufferPointer) -> VaultCryptoError? {
        guard unsafe text.prefix(prefix.count).elementsEqual(prefix.prefix(text.count)) else {
            if unsafe text.starts(with: "tokenvault-key-".utf8) {
                return VaultCryptoError(
                    .keyFileMalformed, "the key file has a version that this program does not know",
                    hint: "a newer version wrote it; use that one"
                )
            }
            return malformed("this is not a key file of a vault")
        }
        // Secret managers, and `$(…)` in a shell, strip the final newline.
        let lacksNewline = text.count == byteCount - 1
        if text.count < byteCount - 1 {
            if let newline = unsafe text.firstIndex(of: newline), newline < text.count {
                return malformed("the key file's line is too short")
            }
            return VaultCryptoError(
                .keyFileTruncated, "the key file is cut short: it has \(text.count) of \(byteCount) bytes",
                hint: "restore it from a copy; do not make a new key, which would not open the vault"
            )
        }
        if unsafe text.contains(UInt8(ascii: "\r")) {
            return malformed(
                "the key file has a carriage return in it", hint: "an editor changed its line end; write LF only")
        }
        let hasNewline = unsafe text.count == byteCount && text[byteCount - 1] == newline
        guard lacksNewline || hasNewline,
            unsafe text[idRange.upperBound] == space, unsafe text[keyRange.upperBound] == space
        else {
            return unsafe lengthDefect(of: text)
        }
        return nil
    }

    private static func lengthDefect(of text: UnsafeRawBufferPointer) -> VaultCryptoError {
        guard text.count > byteCount, unsafe text.dropFirst(byteCount - 1).allSatisfy({ $0 == newline || $0 == space })
        else {
            return unsafe text.count > byteCount && text[byteCount - 1] == newline
                ? malformed("the key file has more than one line", hint: "leave only the line of the vault's key in it")
                : malformed("the key file is not one line of the right length")
        }
        return malformed(
            "the key file has blanks or empty lines after its line", hint: "remove them; the key itself is unharmed")
    }

    private static func malformed(_ reason: String, hint: String? = nil) -> VaultCryptoError {
        VaultCryptoError(.keyFileMalformed, reason, hint: hint ?? "restore the key file from a copy")
    }

    private static func part(_ line: UnsafeMutableRawBufferPointer, _ range: Range<Int>)
        -> UnsafeMutableRawBufferPointer
    {
        unsafe UnsafeMutableRawBufferPointer(rebasing: line[range])
    }

    /// BLAKE2b-512 of everything before the last space, truncated to eight bytes.
    private static func checksum(of line: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 64)
        unsafe hash.withUnsafeMutableBufferPointer { hash in
            guard let target = hash.baseAddress else { return }
            unsafe _ = crypto_generichash_blake2b(
                target, hash.count, line.baseAddress?.u8, UInt64(keyRange.upperBound), nil, 0
            )
        }
        return Array(hash.prefix(checksumByteCount))
    }
}
