/// The private half of an age key pair (X25519), in guarded memory.
package final class Identity: Sendable, Redacted {
    static let prefix = "AGE-SECRET-KEY-"

    package let recipient: Recipient
    /// Not a cell key: only its bytes are used.
    private let scalar: SealingKey

    /// Reads one line, `AGE-SECRET-KEY-1…`.
    package init(parsing line: UnsafeRawBufferPointer) throws(VaultCryptoError) {
        scalar = try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            guard unsafe Bech32.decode(line, prefix: Self.prefix, to: target) else {
                throw VaultCryptoError(
                    .keyFileMalformed, "the identity file holds a line that is not an identity of age",
                    hint: "restore the file from a copy; a line is AGE-SECRET-KEY-1…, empty, or begins with #")
            }
        }
        let scalar = scalar
        recipient = try withExtendedLifetime(scalar) { () throws(VaultCryptoError) in
            try unsafe X25519.recipient(of: scalar.pointer)
        }
    }

    /// The slot key that was wrapped for this identity with this share; nil if it was not.
    func slotKey(share: [UInt8]) -> SealingKey? {
        withExtendedLifetime(scalar) {
            unsafe try? SealingKey.slotKey { target throws(VaultCryptoError) in
                try unsafe X25519.wrapKey(
                    secret: scalar.pointer, peer: share, share: share, recipient: recipient, into: target)
            }
        }
    }
}

extension Identity {
    /// Reads a file in the format of `age-keygen`: identities, comments and empty lines.
    package static func read(at path: String) throws(VaultCryptoError) -> [Identity] {
        try parse(KeyFileReader(path: path, title: "identity file").read())
    }

    package static func parse(_ contents: SecretBytes) throws(VaultCryptoError) -> [Identity] {
        var identities: [Identity] = []
        let defect = unsafe contents.withUnsafeBytes { text -> VaultCryptoError? in
            if let foreign = unsafe foreignForm(text) { return foreign }
            do throws(VaultCryptoError) {
                var start = 0
                while start < text.count {
                    let newline = unsafe text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
                    let isDOS = unsafe newline > start && text[newline - 1] == UInt8(ascii: "\r")
                    let line = start..<(isDOS ? newline - 1 : newline)
                    start = newline + 1
                    guard !line.isEmpty, unsafe text[line.lowerBound] != UInt8(ascii: "#") else { continue }
                    identities.append(try unsafe Identity(parsing: UnsafeRawBufferPointer(rebasing: text[line])))
                }
            } catch {
                return error
            }
            return nil
        }
        if let defect { throw defect }
        guard !identities.isEmpty else {
            throw VaultCryptoError(
                .keyFileTruncated, "the identity file holds no identity", hint: "restore it from a copy")
        }
        return identities
    }

    /// The error for identities that age reads and this program does not.
    private static func foreignForm(_ text: UnsafeRawBufferPointer) -> VaultCryptoError? {
        if unsafe text.starts(with: "age-encryption.org/".utf8) || text.starts(with: "-----BEGIN AGE".utf8) {
            return VaultCryptoError(
                .keyFileMalformed, "the identity file is encrypted",
                hint: "decrypt it with age first, and pass it through a descriptor: --identity <(age -d FILE)")
        }
        if unsafe text.starts(with: "AGE-PLUGIN-".utf8) || text.starts(with: "-----BEGIN OPENSSH".utf8) {
            return VaultCryptoError(
                .keyFileMalformed, "only X25519 identities of age are supported",
                hint: "make one with age-keygen, and a key slot for its recipient")
        }
        return nil
    }
}
