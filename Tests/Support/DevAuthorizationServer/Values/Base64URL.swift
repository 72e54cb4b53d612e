import FoundationEssentials

/// base64url without padding (RFC 7515 §2), refusing every other spelling of the same bytes.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for character in Data(bytes).base64EncodedString() {
            switch character {
            case "+": text.append("-")
            case "/": text.append("_")
            case "=": break
            default: text.append(character)
            }
        }
        return text
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): standard.append("+")
            case UInt8(ascii: "_"): standard.append("/")
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                standard.unicodeScalars.append(Unicode.Scalar(byte))
            default: return nil
            }
        }
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard) else { return nil }
        // Non-zero bits after the last byte would be a second spelling.
        return encode(data) == String(text) ? Array(data) : nil
    }
}
