import Platform

/// A file with the key of one slot, as one line of text.
///
///     tokenvault-key-1 <key id> <key> <checksum>⏎
///
/// The id and the checksum distinguish a damaged file from another key's file. Each defect has its own error, and an
/// empty or truncated file is never a reason to make a new key.
package enum KeyFile {
    /// Makes a new random key and writes it to a new file with mode 0600. Never overwrites, and leaves no file that
    /// would be refused where it is.
    package static func create(at path: String) throws(VaultCryptoError) -> SealingKey {
        let key = try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            try Sodium.initialize()
            unsafe SecureRandom.fill(target)
        }
        let line = KeyFileLine.encode(key)
        try KeyFileWriter(path: path).write(line)
        do throws(VaultCryptoError) {
            guard try read(at: path).id == key.id else {
                throw VaultCryptoError(
                    .keyFileNotWritten, "the key file does not contain the data that was written to it")
            }
        } catch {
            // A key that is refused here must not be found and used later.
            NamedFile(path).discard()
            throw error
        }
        return key
    }

    /// Reads the key after the file has passed every check of its owner, mode, type, links and location.
    package static func read(at path: String) throws(VaultCryptoError) -> SealingKey {
        let contents = try KeyFileReader(path: path).read()
        return try KeyFileLine.decode(contents)
    }
}
