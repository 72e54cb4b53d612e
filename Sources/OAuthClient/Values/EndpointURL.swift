/// The address of an endpoint that receives credentials: `https`, or plain `http` to this machine if that was allowed.
///
/// User information and fragments are rejected; nothing is decoded or re-encoded.
public struct EndpointURL: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// As given.
    public let rawValue: String
    let url: RawURL

    /// Validates an address and keeps it unchanged.
    ///
    /// - Parameters:
    ///   - rawValue: An absolute URL, percent-encoded.
    ///   - allowsInsecureLoopback: Accepts `http` for `localhost`, `127.0.0.0/8` and `[::1]`.
    ///   - allowsVariables: Accepts `{name}` for values that each log-in brings, as the provider's profile declares them: as
    ///     whole labels to the left of a fixed domain, in the path, and in the query.
    /// - Throws: ``OAuthValueError``, `insecure` for plain `http`, `malformed` for anything else.
    public init(
        _ rawValue: String, allowsInsecureLoopback: Bool = false, allowsVariables: Bool = false
    ) throws(OAuthValueError) {
        let url = try RawURL(rawValue, of: "endpoint URL", allowsVariables: allowsVariables)
        guard url.scheme == "https" || (allowsInsecureLoopback && url.isLoopback) else {
            throw OAuthValueError(.insecure, "endpoint URL")
        }
        self.rawValue = rawValue
        self.url = url
        if allowsVariables, rawValue.utf8.contains(UInt8(ascii: "{")) || rawValue.utf8.contains(UInt8(ascii: "}")) {
            guard hasAcceptableHost, VariableText.parts(of: rawValue) != nil else {
                throw OAuthValueError(.malformed("a name in braces is not where one may be"), "endpoint URL")
            }
        }
    }

    /// Scheme, host and, unless it is the scheme's default, the port.
    public var origin: String { url.origin }
    public var scheme: String { url.scheme }
    /// Without port; IPv6 addresses keep their brackets.
    public var host: String { url.host }
    public var authority: String { url.authority }
    /// Path and query.
    public var requestTarget: String { url.requestTarget }
    public var isLoopback: Bool { url.isLoopback }

    public var description: String { rawValue }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
