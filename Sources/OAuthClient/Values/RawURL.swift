/// An absolute `http` or `https` URL, cut into its parts without decoding anything (RFC 3986 §3).
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

    init?(_ text: String) {
        guard text.utf8.count <= 8_192, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let schemeEnd = text.firstIndex(of: ":")
        else { return nil }
        scheme = text[..<schemeEnd].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        var rest = text[text.index(after: schemeEnd)...]
        guard rest.hasPrefix("//") else { return nil }
        rest = rest.dropFirst(2)

        if let hash = rest.firstIndex(of: "#") {
            hasFragment = true
            rest = rest[..<hash]
        } else {
            hasFragment = false
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        } else {
            query = nil
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        path = String(rest[slash...])
        guard Self.isEncoded(path), Self.isEncoded(query ?? ""),
            let (host, port) = Self.authority(rest[..<slash])
        else { return nil }
        self.host = host
        self.port = port
    }

    /// The host and, unless it is the scheme's own, the port.
    var authority: String {
        guard let port, port != defaultPort else { return host }
        return "\(host):\(port)"
    }

    var origin: String { "\(scheme)://\(authority)" }

    /// The target URI without query and fragment, as a proof names it (RFC 9449 §4.2).
    var withoutQuery: String { origin + (path.isEmpty ? "/" : path) }

    /// What an HTTP request line carries.
    var requestTarget: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Also where none is named.
    var portInUse: UInt16 { port ?? defaultPort }

    private var defaultPort: UInt16 { scheme == "https" ? 443 : 80 }

    private static func authority(_ text: Substring) -> (host: String, port: UInt16?)? {
        // Neither a host nor a port takes an `@`: user information is a way to make a host look like another one.
        let hostEnd: Substring.Index
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            hostEnd = text.index(after: bracket)
            let address = text[text.index(after: text.startIndex)..<bracket]
            guard !address.isEmpty, address.utf8.allSatisfy(isAddressByte) else { return nil }
        } else {
            hostEnd = text.firstIndex(of: ":") ?? text.endIndex
            guard hostEnd > text.startIndex, text[..<hostEnd].utf8.allSatisfy(isNameByte) else { return nil }
        }
        let host = text[..<hostEnd].lowercased()
        let rest = text[hostEnd...]
        if rest.isEmpty || rest == ":" { return (host, nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.utf8.count <= 5,
            let port = UInt16(digits), port > 0
        else { return nil }
        return (host, port)
    }

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

    /// No character that must be escaped, and each `%` followed by two hexadecimal digits.
    private static func isEncoded(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
                UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                return false
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count, Hex.value(bytes[index + 1]) != nil, Hex.value(bytes[index + 2]) != nil
                else { return false }
            default: continue
            }
        }
        return true
    }
}
