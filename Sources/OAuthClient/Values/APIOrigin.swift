/// An origin that tokens may be sent to: one origin (RFC 6454), or `https` at every host below a domain.
///
/// ```swift
/// try APIOrigin("https://api.acme.example")
/// try APIOrigin("https://*.eu.acme.example:8443")
/// ```
///
/// A `*` stands for one label or more, so `https://*.acme.example` covers `https://a.b.acme.example`, but not
/// `https://acme.example`. Hosts are compared literally: a name is not an address, and `acme.example.` is another name.
public struct APIOrigin: Hashable, Sendable, CustomStringConvertible {
    /// In lower case, without the scheme's default port: `https://api.acme.example`, `https://*.acme.example:8443`.
    public let rawValue: String
    /// The origin, with the domain as its host if it covers hosts below.
    private let url: RawURL
    private let coversSubdomains: Bool

    /// - Parameters:
    ///   - text: Scheme, host and optionally a port. A path is rejected, because an origin has none.
    ///   - allowsInsecureLoopback: Accepts `http` for `localhost`, `127.0.0.0/8` and `[::1]`.
    /// - Throws: ``OAuthValueError``, `insecure` for plain `http`, `malformed` for anything else.
    public init(_ text: String, allowsInsecureLoopback: Bool = false) throws(OAuthValueError) {
        var plain = text
        let wildcard = text.firstRange(of: "://*.")
        if let wildcard { plain.replaceSubrange(wildcard, with: "://") }
        let given = try RawURL(plain, of: "API origin")
        guard given.query == nil else { throw OAuthValueError(breaking: .query, "API origin") }
        guard ["", "/"].contains(given.path) else { throw OAuthValueError(breaking: .path, "API origin") }
        // Built again from the compared parts, so that equal origins have equal text however they were written.
        let url = try RawURL(given.origin, of: "API origin")
        guard url.scheme == "https" || (allowsInsecureLoopback && wildcard == nil && url.isLoopback) else {
            throw OAuthValueError(.insecure, "API origin")
        }
        guard wildcard == nil || Self.isDomain(url.host) else {
            throw OAuthValueError(.malformed("its * does not stand before a domain"), "API origin")
        }
        self.url = url
        coversSubdomains = wildcard != nil
        rawValue = "\(url.scheme)://\(coversSubdomains ? "*." : "")\(url.authority)"
    }

    /// Takes the stored form, which was checked before.
    package init(stored text: String) throws(OAuthValueError) {
        try self.init(text, allowsInsecureLoopback: true)
    }

    /// Whether it covers the target of a request.
    public func covers(_ target: EndpointURL) -> Bool {
        guard coversSubdomains else { return target.origin == url.origin }
        let suffix = "." + url.host
        let isBelow = target.host.hasSuffix(suffix) && target.host.utf8.count > suffix.utf8.count
        return isBelow && target.scheme == url.scheme && target.url.portInUse == url.portInUse
    }

    public var description: String { rawValue }

    /// At least two labels, because a top-level domain belongs to everyone; and not an address.
    private static func isDomain(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, !labels.contains(where: \.isEmpty), let last = labels.last else { return false }
        return !last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
