/// The address that the authorization server returns the browser to (RFC 6749 §3.1.2): an absolute URI without a
/// fragment. Servers compare it literally, so it is kept unchanged.
///
/// It is `https`, plain `http` on this machine (RFC 8252 §7.3), or has an app's own scheme with a dot in it, such as
/// `com.example.app:/callback` (RFC 8252 §7.1). Other schemes, such as `javascript`, would pass the code to any program
/// that handles them.
public struct RedirectURI: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let rawValue: String

    static let longest = 2_048

    /// Validates a URI and keeps it unchanged.
    ///
    /// - Throws: ``OAuthValueError`` unless it is an absolute URI of at most 2048 characters, without a fragment and
    ///   without user information; `insecure` for plain `http` elsewhere.
    public init(_ rawValue: String) throws(OAuthValueError) {
        guard !rawValue.isEmpty else { throw OAuthValueError(.empty, "redirect URI") }
        guard rawValue.utf8.count <= Self.longest else { throw OAuthValueError(.tooLong, "redirect URI") }
        guard rawValue.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OAuthValueError(.forbiddenCharacter, "redirect URI")
        }
        guard !rawValue.contains("#") else { throw OAuthValueError(breaking: .fragment, "redirect URI") }
        guard let scheme = Self.scheme(of: rawValue) else {
            throw OAuthValueError(.malformed("it does not begin with a scheme"), "redirect URI")
        }
        switch scheme {
        case "https", "http":
            let url = try RawURL(rawValue, of: "redirect URI")
            guard scheme == "https" || url.isLoopback else { throw OAuthValueError(.insecure, "redirect URI") }
        default:
            // A reversed domain name of the owner's, so that two apps do not share one by chance.
            let authority = rawValue.dropFirst(scheme.utf8.count + 1).prefix { $0 != "?" }
            guard scheme.contains(".") else {
                throw OAuthValueError(.malformed("its scheme is neither https nor an app's own"), "redirect URI")
            }
            guard !authority.contains("@") else { throw OAuthValueError(breaking: .userInformation, "redirect URI") }
        }
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }

    /// In lower case (RFC 3986 §3.1); nil if there is none, or nothing after it.
    private static func scheme(of text: String) -> String? {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.first.map(isLetter) == true, text.utf8.count > scheme.count + 1,
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }
}

// MARK: Distinguishing callbacks

extension RedirectURI {
    /// Whether a callback came to this URI: to its host and path, with the URI's own parameters. A proxy may have
    /// changed scheme and port. A callback that is only a path proves nothing about its host, and a bare query proves
    /// nothing at all.
    package func leads(to callback: String) -> Bool {
        guard let own = CallbackRoute(rawValue), let other = CallbackRoute(callback) else { return true }
        return (other.host.map { $0 == own.host } ?? true) && own.path == other.path
            && own.parameters.isSubset(of: other.parameters)
    }

    /// Whether callbacks to the two URIs are indistinguishable.
    package func isShared(with other: RedirectURI) -> Bool {
        leads(to: other.rawValue) || other.leads(to: rawValue)
    }

    /// Where a web service finds its callback; nil for the scheme of an app.
    package var webLocation: (origin: String, path: String)? {
        (try? RawURL(rawValue)).map { ($0.origin, $0.path.isEmpty ? "/" : $0.path) }
    }

    /// Whether the browser returns to this machine (RFC 8252 §7.3).
    package var isLoopback: Bool { (try? RawURL(rawValue))?.isLoopback == true }
}

/// The parts of a callback's address that distinguish redirect URIs.
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
        if let url = try? RawURL(String(front)) {
            (host, path) = (url.host, url.path.isEmpty ? "/" : url.path)
        } else if front.hasPrefix("/") {
            path = String(front)
        } else {
            guard let colon = front.firstIndex(of: ":"), !front[..<colon].contains("=") else { return nil }
            (host, path) = (front[..<colon].lowercased(), String(front[front.index(after: colon)...]))
        }
    }
}
