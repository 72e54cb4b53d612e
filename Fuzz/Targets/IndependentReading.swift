import Foundation

/// A second opinion: the same bytes, read by Foundation.
enum IndependentReading {
    /// The OAuth error of a body, as JSON or as a form.
    static func error(of body: [UInt8]) -> String? {
        if let object = json(body) { return object["error"] as? String }
        return form(body)["error"]
    }

    static func json(_ bytes: [UInt8]) -> [String: Any]? {
        let document = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return (try? JSONSerialization.jsonObject(with: Data(document))) as? [String: Any]
    }

    /// Names and values, decoded without checking that the whole is a valid form.
    static func form(_ bytes: [UInt8]) -> [String: String] {
        var values: [String: String] = [:]
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let texts = parts.map(decoded)
            values[texts[0].trimmingCharacters(in: .whitespacesAndNewlines)] = texts[1]
        }
        return values
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
                result.append(value)
                rest = rest.dropFirst(digits.count)
            } else {
                result.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: result, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
