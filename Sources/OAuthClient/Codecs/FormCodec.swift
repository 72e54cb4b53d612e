/// `application/x-www-form-urlencoded` (RFC 6749 Appendix B).
package enum FormCodec {
    private static let maximumParameters = 256
    private static let digits = Array("0123456789ABCDEF".utf8)

    package static func encode(_ parameters: [FormParameter]) -> [UInt8] {
        var body: [UInt8] = []
        for parameter in parameters {
            if !body.isEmpty { body.append(UInt8(ascii: "&")) }
            append(parameter.name, to: &body)
            body.append(UInt8(ascii: "="))
            append(parameter.value, to: &body)
        }
        return body
    }

    /// Encodes a single name or value, as the client id and secret for HTTP Basic require (RFC 6749 §2.3.1).
    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        append(text, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes a value for a part of a path or a query: all but the unreserved characters (RFC 3986 §2.3).
    static func encodePath(_ text: String) -> String {
        encode(text).replacing("+", with: "%20").replacing("*", with: "%2A")
    }

    /// Nil if it is not a form: a byte that a form would escape, an invalid escape, no `=`, or text that is not UTF-8.
    package static func decode(_ bytes: some Sequence<UInt8>) -> [FormParameter]? {
        var parameters: [FormParameter] = []
        let pairs = Array(bytes).split(separator: UInt8(ascii: "&"), maxSplits: maximumParameters)
        guard !pairs.isEmpty, pairs.count <= maximumParameters else { return nil }
        for pair in pairs {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex,
                let name = decodeText(pair[..<equals]), let value = decodeText(pair[(equals + 1)...])
            else { return nil }
            parameters.append(FormParameter(name, value))
        }
        return parameters
    }

    private static func append(_ text: String, to body: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                body.append(byte)
            case 0x20: body.append(UInt8(ascii: "+"))
            default: body += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
        }
    }

    private static func decodeText(_ bytes: ArraySlice<UInt8>) -> String? {
        var text: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value)
                else { return nil }
                text.append(high << 4 | low)
            case 0x00...0x20, 0x22, 0x3C, 0x3E, 0x5B...0x5E, 0x60, 0x7B...0x7D, 0x7F...0xFF: return nil
            default: text.append(byte)
            }
        }
        return String(validating: text, as: UTF8.self)
    }
}
