/// Where the authorization server sends the browser when it is done (RFC 6749 §3.1.2): an absolute URI without a
/// fragment. Servers compare it letter by letter, so it is kept as it is.
///
/// It is `https`, plain `http` on this machine (RFC 8252 §7.3), or has a scheme of an app's own with a dot in it, such as
/// `com.example.app:/callback` (RFC 8252 §7.1). Other schemes, such as `javascript`, would hand the code to whatever
/// understands them.
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    static let longest = 2_048

    /// Checks a URI and keeps it as it is.
    ///
    /// - Throws: ``OAuthValueError`` unless it is an absolute URI of at most 2048 characters, without a fragment and without
    ///   user information; `insecure` for plain `http` elsewhere.
    public init(_ rawValue: String) throws(OAuthValueError) {
        guard !rawValue.isEmpty else { throw OAuthValueError(.empty, "redirect URI") }
        guard rawValue.utf8.count <= Self.longest else { throw OAuthValueError(.tooLong, "redirect URI") }
        guard rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OAuthValueError(.forbiddenCharacter, "redirect URI")
        }
        guard let scheme = Self.scheme(of: rawValue), !rawValue.contains("#") else {
            throw OAuthValueError(.malformed, "redirect URI")
        }
        switch scheme {
        case "https", "http":
            guard let url = RawURL(rawValue) else { throw OAuthValueError(.malformed, "redirect URI") }
            guard scheme == "https" || url.isLoopback else { throw OAuthValueError(.insecure, "redirect URI") }
        default:
            // Of a name that its owner has turned round, so that no two apps share one by chance.
            let authority = rawValue.dropFirst(scheme.utf8.count + 1).prefix { $0 != "?" }
            guard scheme.contains("."), !authority.contains("@") else {
                throw OAuthValueError(.malformed, "redirect URI")
            }
        }
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// In lower case (RFC 3986 §3.1); nil if there is none, or nothing behind it.
    private static func scheme(of text: String) -> String? {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.first.map(isLetter) == true, text.utf8.count > scheme.count + 1,
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }
}

// MARK: Telling callbacks apart

extension RedirectURI {
    /// Whether a callback came to this URI: to its host and path, with the parameters that it has itself. A proxy may have
    /// changed scheme and port. What is no more than a path says nothing of its host, and a query alone nothing at all.
    package func leads(to callback: String) -> Bool {
        guard let own = CallbackRoute(rawValue), let other = CallbackRoute(callback) else { return true }
        return (other.host.map { $0 == own.host } ?? true) && own.path == other.path
            && own.parameters.isSubset(of: other.parameters)
    }

    /// Whether callbacks to both cannot be told apart.
    package func isShared(with other: RedirectURI) -> Bool {
        leads(to: other.rawValue) || other.leads(to: rawValue)
    }

    /// Whether the browser comes back to this machine (RFC 8252 §7.3).
    package var isLoopback: Bool { RawURL(rawValue)?.isLoopback == true }
}

/// Where a callback came, as far as that tells redirect URIs apart.
private struct CallbackRoute {
    /// Nil where only a path is known.
    var host: String?
    var path: String
    /// Not decoded.
    var parameters: Set<Substring>

    init?(_ text: String) {
        let whole = text.prefix { $0 != "#" }
        let front = whole.prefix { $0 != "?" }
        parameters = Set(whole.dropFirst(front.count + 1).split(separator: "&"))
        if let url = RawURL(String(front)) {
            (host, path) = (url.host, url.path.isEmpty ? "/" : url.path)
        } else if front.hasPrefix("/") {
            path = String(front)
        } else {
            guard let colon = front.firstIndex(of: ":"), !front[..<colon].contains("=") else { return nil }
            (host, path) = (front[..<colon].lowercased(), String(front[front.index(after: colon)...]))
        }
    }
}
