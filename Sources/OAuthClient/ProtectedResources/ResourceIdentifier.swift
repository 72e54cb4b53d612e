/// A protected resource, named by its URL (RFC 9728 §1.2, RFC 8707 §2): in lower case as far as that makes no difference,
/// without fragment, default port, and the slash at the end.
package struct ResourceIdentifier: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    let url: RawURL

    /// - Throws: ``OAuthValueError``, `insecure` for plain `http` that is not to this machine or not allowed.
    package init(_ text: String, allowsInsecureLoopback: Bool = false) throws(OAuthValueError) {
        let given = try RawURL(text, of: "resource")
        guard given.scheme == "https" || (allowsInsecureLoopback && given.isLoopback) else {
            throw OAuthValueError(.insecure, "resource")
        }
        let path = given.path.hasSuffix("/") ? String(given.path.dropLast()) : given.path
        guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw OAuthValueError(.malformed("its path has a dot segment"), "resource")
        }
        rawValue = given.origin + path + (given.query.map { "?" + $0 } ?? "")
        url = try RawURL(rawValue, of: "resource")
    }

    /// Takes the stored form, which was checked before.
    package init(stored text: String) throws(OAuthValueError) { try self.init(text, allowsInsecureLoopback: true) }

    package var origin: String { url.origin }

    /// The resource that is the whole origin.
    var root: ResourceIdentifier {
        get throws(OAuthValueError) { try ResourceIdentifier(url.origin, allowsInsecureLoopback: true) }
    }

    /// Whether a request to this URL is one to the resource: to its path or below it, and with its query if it has one. A path
    /// with anything that a server may take for a dot segment is not.
    package func covers(_ target: EndpointURL) -> Bool {
        guard target.origin == url.origin else { return false }
        guard url.query == nil || url.query == target.url.query else { return false }
        let path = target.url.path
        guard !path.split(separator: "/").contains(where: { Self.isDotSegment($0) }) else { return false }
        return path == url.path || path.hasPrefix(url.path + "/")
    }

    private static func isDotSegment(_ segment: Substring) -> Bool {
        let text = segment.lowercased()
        let plain = text.prefix { $0 != ";" }.replacing("%2e", with: ".")
        return plain == "." || plain == ".."
            || ["%2f", "%5c", "%252e", "%252f", "%255c"].contains { text.contains($0) }
    }

    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// Where the resource's metadata may be (RFC 9728 §3.1): for its path, and for the whole origin.
    var metadataPlaces: [(resource: ResourceIdentifier, target: String)] {
        get throws(OAuthValueError) {
            let own = (self, Self.wellKnown + url.path + (url.query.map { "?" + $0 } ?? ""))
            return url.path.isEmpty && url.query == nil ? [own] : [own, (try root, Self.wellKnown)]
        }
    }

    /// The resource whose well-known place this is, if this resource lies below it. Who may answer for a part of an origin
    /// cannot put anything there.
    func owner(ofPlace place: EndpointURL) -> ResourceIdentifier? {
        guard place.origin == origin, place.url.query == nil, place.url.path.hasPrefix(Self.wellKnown),
            let owner = try? ResourceIdentifier(
                origin + place.url.path.dropFirst(Self.wellKnown.count), allowsInsecureLoopback: true),
            let target = try? EndpointURL(rawValue, allowsInsecureLoopback: true), owner.covers(target)
        else { return nil }
        return owner
    }

    package var description: String { rawValue }
}
