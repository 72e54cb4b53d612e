/// What callers may pass: what is not fit is refused before anything is read or sent.
enum ArgumentCheck {
    /// Longer user ids are refused: they are read with every token.
    private static let longestUserId = 1_024

    /// Any text is a user id, line breaks and escape codes included, if it is neither empty nor too long.
    static func userId(_ userId: String) throws -> String {
        let length = userId.utf8.count
        guard length > 0 else { throw VaultError(.invalidArgument, "the user id is empty") }
        guard length <= longestUserId else {
            throw VaultError(.invalidArgument, "the user id is longer than \(longestUserId) bytes")
        }
        return userId
    }

    static func label(_ label: String?) throws -> String? {
        guard let label else { return nil }
        guard label.utf8.count <= longestUserId else {
            throw VaultError(.invalidArgument, "the label is longer than \(longestUserId) bytes")
        }
        return label
    }

    /// Longer URIs are refused: they are read with every token of the login.
    private static let longestResource = 2_048

    /// Whether it is an absolute URI without a fragment (RFC 8707 §2).
    static func isResource(_ resource: String) -> Bool {
        resource.utf8.count <= longestResource && !resource.contains("#")
            && resource.utf8.allSatisfy { (0x21...0x7E).contains($0) } && hasScheme(resource)
    }

    /// RFC 3986 §3.1, and something after it.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        let rest = text[text.index(after: colon)...]
        return !rest.isEmpty
            && text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
