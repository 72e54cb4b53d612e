/// The identifier of an authorization server (RFC 8414 §2): a URL without query and fragment, compared literally.
public struct Issuer: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let rawValue: String
    let url: RawURL

    public init(_ rawValue: String, allowsInsecureLoopback: Bool = false) throws(OAuthValueError) {
        let url = try RawURL(rawValue, of: "issuer")
        guard url.query == nil else { throw OAuthValueError(breaking: .query, "issuer") }
        guard url.scheme == "https" || (allowsInsecureLoopback && url.isLoopback) else {
            throw OAuthValueError(.insecure, "issuer")
        }
        self.rawValue = rawValue
        self.url = url
    }

    public var description: String { rawValue }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
