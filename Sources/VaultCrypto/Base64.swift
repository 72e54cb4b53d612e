import CSodium

/// Base64 with padding (RFC 4648 §4), for bytes that are no secret.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        let length = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
        var text = [CChar](repeating: 0, count: length)
        unsafe _ = sodium_bin2base64(&text, length, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns `nil` unless the text is the canonical encoding of some bytes.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = text.utf8.map { CChar(bitPattern: $0) }
        var bytes = [UInt8](repeating: 0, count: characters.count)
        var count = 0
        let code = unsafe sodium_base642bin(
            &bytes, bytes.count, characters, characters.count, nil, &count, nil, sodium_base64_VARIANT_ORIGINAL)
        guard code == 0 else { return nil }
        let result = Array(bytes.prefix(count))
        return encode(result) == String(text) ? result : nil
    }
}
