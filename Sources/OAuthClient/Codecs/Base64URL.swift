/// Base64 with the URL alphabet and no padding (RFC 7515 §2).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        append(Array(bytes), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let alphabet = alphabet
        let whole = bytes.count / 3 * 3
        var end = text.count
        text += repeatElement(0, count: (bytes.count * 4 + 2) / 3)
        // Three bytes make four characters.
        for start in stride(from: 0, to: whole, by: 3) {
            let group = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            text[end] = alphabet[group >> 18]
            text[end + 1] = alphabet[group >> 12 & 0x3F]
            text[end + 2] = alphabet[group >> 6 & 0x3F]
            text[end + 3] = alphabet[group & 0x3F]
            end += 4
        }
        if whole < bytes.count {
            let group = Int(bytes[whole]) << 16 | (whole + 1 < bytes.count ? Int(bytes[whole + 1]) << 8 : 0)
            for (offset, place) in (end..<text.count).enumerated() {
                text[place] = alphabet[group >> (18 - 6 * offset) & 0x3F]
            }
        }
    }

    /// Nil for padding, other characters, and nonzero leftover bits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            buffer = (buffer << 6) | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        guard bits < 6, buffer & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
