/// An absolute `http` or `https` URL, split into its parts without decoding anything (RFC 3986 §3).
struct RawURL: Hashable, Sendable {
    /// Lower case.
    let scheme: String
    /// Lower case; IPv6 addresses keep their brackets.
    let host: String
    let port: UInt16?
    /// Percent-encoded as given; empty if there was none.
    let path: String
    /// Without the `?`.
    let query: String?
    let hasFragment: Bool

    /// Parses bytes: a URL is ASCII, and each request and each proof needs one.
    ///
    /// - Parameter allowsVariables: Takes braces like letters.
    init(_ text: String, allowsVariables: Bool = false) throws(URLDefect) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 8_192 else { throw .tooLong }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .forbiddenCharacter }
        guard let schemeEnd = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .scheme }
        scheme = Self.lowercased(bytes[..<schemeEnd])
        guard scheme == "https" || scheme == "http" else { throw .scheme }
        var rest = bytes[(schemeEnd + 1)...]
        guard rest.count >= 2, rest.removeFirst() == UInt8(ascii: "/"), rest.removeFirst() == UInt8(ascii: "/") else {
            throw .scheme
        }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            hasFragment = true
            rest = rest[..<hash]
        } else {
            hasFragment = false
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            let bytes = rest[(mark + 1)...]
            guard Self.isEncoded(bytes, allowsVariables) else { throw .encoding }
            query = String(decoding: bytes, as: UTF8.self)
            rest = rest[..<mark]
        } else {
            query = nil
        }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard Self.isEncoded(rest[slash...], allowsVariables) else { throw .encoding }
        (host, port) = try Self.authority(rest[..<slash], allowsVariables)
        path = String(decoding: rest[slash...], as: UTF8.self)
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard bytes.contains(where: capitals.contains) else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.map { capitals.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The host and, unless it is the scheme's default, the port.
    var authority: String {
        guard let port, port != defaultPort else { return host }
        return "\(host):\(port)"
    }

    var origin: String { "\(scheme)://\(authority)" }

    /// The target URI without query and fragment, in the form that a proof names it (RFC 9449 §4.2).
    var withoutQuery: String { origin + (path.isEmpty ? "/" : path) }

    /// The target in an HTTP request line.
    var requestTarget: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The port, or the default one if none is given.
    var portInUse: UInt16 { port ?? defaultPort }

    private var defaultPort: UInt16 { scheme == "https" ? 443 : 80 }

    private static func authority(
        _ bytes: ArraySlice<UInt8>, _ allowsVariables: Bool
    ) throws(URLDefect) -> (host: String, port: UInt16?) {
        // User information can make a host look like another one.
        guard !bytes.contains(UInt8(ascii: "@")) else { throw .userInformation }
        let hostEnd: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            hostEnd = bracket + 1
            let address = bytes[(bytes.startIndex + 1)..<bracket]
            guard !address.isEmpty, address.allSatisfy(isAddressByte) else { throw .host }
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            guard hostEnd > bytes.startIndex else { throw .noHost }
            guard bytes[..<hostEnd].allSatisfy({ isNameByte($0) || (allowsVariables && isBrace($0)) }) else {
                throw .host
            }
        }
        // Names in braces keep their case.
        let host =
            allowsVariables && bytes[..<hostEnd].contains(where: isBrace)
            ? String(decoding: bytes[..<hostEnd], as: UTF8.self) : lowercased(bytes[..<hostEnd])
        guard let colon = bytes[hostEnd...].first else { return (host, nil) }
        let digits = bytes[(hostEnd + 1)...]
        guard colon == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .port
        }
        if digits.isEmpty { return (host, nil) }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else { throw .port }
        return (host, port)
    }

    private static func isBrace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// No character that must be escaped, and two hexadecimal digits after each `%`.
    private static func isEncoded(_ bytes: ArraySlice<UInt8>, _ allowsVariables: Bool) -> Bool {
        for (index, byte) in zip(bytes.indices, bytes) {
            switch byte {
            case _ where allowsVariables && isBrace(byte): continue
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
                UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                return false
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.endIndex, Hex.value(bytes[index + 1]) != nil, Hex.value(bytes[index + 2]) != nil
                else { return false }
            default: continue
            }
        }
        return true
    }
}
