/// Where the authorization server sends the browser when it is done (RFC 6749 §3.1.2): an absolute URI without a
/// fragment. Servers compare it letter by letter, so it is kept as it is.
///
/// Besides `https` it may have a scheme of an app's own, such as `com.example.app:/callback` (RFC 8252 §7.1).
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    static let longest = 2_048

    /// Checks a URI and keeps it as it is.
    ///
    /// - Throws: ``OAuthValueError`` unless it is an absolute URI of at most 2048 characters, without a fragment.
    public init(_ rawValue: String) throws(OAuthValueError) {
        guard !rawValue.isEmpty else { throw OAuthValueError(.empty, "redirect URI") }
        guard rawValue.utf8.count <= Self.longest else { throw OAuthValueError(.tooLong, "redirect URI") }
        guard rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OAuthValueError(.forbiddenCharacter, "redirect URI")
        }
        guard Self.hasScheme(rawValue), !rawValue.contains("#") else {
            throw OAuthValueError(.malformed, "redirect URI")
        }
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// A scheme and something behind it (RFC 3986 §3.1).
    private static func hasScheme(_ text: String) -> Bool {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        return scheme.first.map(isLetter) == true && text.utf8.count > scheme.count + 1
            && scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }
}
