/// Parameters of `application/x-www-form-urlencoded`, as strict as RFC 6749 §3.1 and §3.2 ask.
struct FormParameters: Sendable {
    private var values: [String: String] = [:]
    /// Values of `resource`, the one parameter that may come several times (RFC 8707 §2).
    private(set) var resources: [String] = []

    /// Refuses broken escapes, bytes that are not UTF-8, and parameters that come twice.
    init(parsing text: some StringProtocol) throws(OAuthError) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count == 2 ? parts[1] : "") else {
                throw .invalidRequest("the parameters are not properly encoded", reason: "malformed parameters")
            }
            if name == "resource" {
                if !value.isEmpty, !resources.contains(value) { resources.append(value) }
                continue
            }
            if values[name] != nil {
                throw .invalidRequest("a parameter appears twice", reason: "duplicate parameter")
            }
            values[name] = value
        }
    }

    /// A parameter without a value counts as absent (RFC 6749 §3.1).
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func required(_ name: String) throws(OAuthError) -> String {
        guard let value = self[name] else {
            throw .invalidRequest("\(name) is missing", reason: "no \(name)")
        }
        return value
    }

    static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return encoded
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
