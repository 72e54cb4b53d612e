/// The public half of an age identity (X25519). Anyone who knows it can make a key slot for it; only the identity opens
/// that slot.
package struct Recipient: Hashable, Sendable {
    package static let byteCount = 32
    private static let prefix = "age"

    package let bytes: [UInt8]

    /// `nil` unless there are exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads `age1…`, the form that `age-keygen` prints.
    package init(text: String) throws(VaultCryptoError) {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        var text = text
        let isValid = text.withUTF8 { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                unsafe Bech32.decode(UnsafeRawBufferPointer(source), prefix: Self.prefix, to: target)
            }
        }
        guard isValid else { throw Self.refusal(of: text) }
        self.bytes = bytes
    }

    package var text: String {
        unsafe String(
            decoding: bytes.withUnsafeBytes { unsafe Bech32.encode($0, prefix: Self.prefix) }, as: UTF8.self)
    }

    private static func refusal(of text: String) -> VaultCryptoError {
        // The whole file of an identity has comments before it.
        if text.uppercased().contains(Identity.prefix) {
            return VaultCryptoError(
                .recipientMalformed, "this is a secret identity, but its recipient is needed",
                hint:
                    "use the recipient, age1…, which `age-keygen -y` prints; assume that others have seen the identity")
        }
        if text.hasPrefix("tokenvault-key-") {
            return VaultCryptoError(
                .recipientMalformed, "this is a key of a vault, but the recipient of an age identity is needed",
                hint: "\(making); assume that others have seen the key")
        }
        // The comment in an identity's file.
        let last = text.split(separator: " ").last.map(String.init) ?? ""
        if last != text, last.hasPrefix("age1"), let recipient = try? Recipient(text: last) {
            return VaultCryptoError(
                .recipientMalformed, "the recipient has a blank or other words before it",
                hint: "write it alone: \(recipient.text)")
        }
        let isOther = text.hasPrefix("ssh-") || text.hasPrefix("age1") && text.utf8.count > 62
        return VaultCryptoError(
            .recipientMalformed,
            isOther
                ? "only X25519 recipients of age are supported, which begin with age1 and have 62 characters"
                : "\(named(text)) is not a recipient of age: it has another form, or a typing error",
            hint: text.hasPrefix("age1") ? "use the line that `age-keygen` prints: age1…" : making)
    }

    private static let making =
        "make an identity with `age-keygen -o FILE`, and use its recipient, age1…, which `age-keygen -y FILE` prints"

    /// The given text, unless it may be a secret in the wrong place.
    private static func named(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return text.lowercased().hasPrefix("age1") && isPlain ? String(text.prefix(64)) : "this"
    }
}
