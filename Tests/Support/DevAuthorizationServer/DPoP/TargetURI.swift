/// An `htu`, brought into the one form that RFC 3986 §6.2.2 and §6.2.3 give to all its spellings.
struct TargetURI: Equatable, Sendable {
    let scheme: String
    let authority: String
    let path: String

    /// `nil` if the text is not an absolute http(s) URI. Query and fragment are dropped (RFC 9449 §4.3, item 9).
    init?(_ text: String) {
        let bare = text.prefix { $0 != "?" && $0 != "#" }
        guard let separator = bare.firstRange(of: "://") else { return nil }
        scheme = bare[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = bare[separator.upperBound...]
        let host = rest.prefix { $0 != "/" }
        guard !host.isEmpty, !host.contains("@") else { return nil }
        let defaultPort = scheme == "http" ? ":80" : ":443"
        var authority = host.lowercased()
        if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.count) }
        if authority.hasSuffix(":") { authority.removeLast() }
        self.authority = authority
        guard let path = Self.normalised(rest.dropFirst(host.count)) else { return nil }
        self.path = path
    }

    private static func normalised(_ path: Substring) -> String? {
        guard let unescaped = unescapingUnreserved(path) else { return nil }
        var segments: [Substring] = []
        let parts = unescaped.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    /// `%7E` is `~`, and `%2f` is `%2F`.
    private static func unescapingUnreserved(_ path: Substring) -> String? {
        var result = ""
        var rest = path.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                result.unicodeScalars.append(Unicode.Scalar(byte))
                continue
            }
            guard let high = rest.next().flatMap(FormParameters.hexDigit),
                let low = rest.next().flatMap(FormParameters.hexDigit)
            else { return nil }
            let value = high << 4 | low
            if FormParameters.isUnreserved(value) {
                result.unicodeScalars.append(Unicode.Scalar(value))
            } else {
                result += "%" + String(high, radix: 16, uppercase: true) + String(low, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
