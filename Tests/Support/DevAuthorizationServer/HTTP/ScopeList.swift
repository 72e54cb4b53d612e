/// RFC 6749 §3.3: tokens of `%x21 / %x23-5B / %x5D-7E`, one space between two of them.
enum ScopeList {
    static func parse(_ text: String) throws(OAuthError) -> [String] {
        var scopes: [String] = []
        for part in text.split(separator: " ", omittingEmptySubsequences: false) {
            let isToken =
                !part.isEmpty
                && part.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != 0x5C }
            guard isToken else { throw .invalidScope("the scope is malformed", reason: "malformed scope") }
            if !scopes.contains(String(part)) { scopes.append(String(part)) }
        }
        return scopes
    }
}
