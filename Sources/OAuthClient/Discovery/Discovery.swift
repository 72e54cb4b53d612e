import HTTPTypes

/// Finds a server's metadata (RFC 8414 §3, then OpenID Connect Discovery §4).
public enum Discovery {
    /// Asks the issuer for its metadata and refuses a document that names another issuer or an insecure endpoint.
    ///
    /// - Parameter allowsInsecureLoopback: takes `http` endpoints on this machine.
    /// - Throws: ``DiscoveryError``.
    public static func metadata(
        issuer: Issuer, transport: any HTTPTransport, allowsInsecureLoopback: Bool = false,
        limits: HTTPLimits = .discovery
    ) async throws(DiscoveryError) -> ServerMetadata {
        for path in paths(of: issuer) {
            var fields = HTTPFields()
            fields[.accept] = "application/json"
            let request = HTTPRequest(
                method: .get, scheme: issuer.url.scheme, authority: issuer.url.authority, path: path,
                headerFields: fields)
            let reply: HTTPReply
            do throws(HTTPTransportError) {
                reply = try await transport.send(request, body: [], limits: limits)
            } catch {
                throw DiscoveryError(.unreachable, transportError: error)
            }
            switch reply.response.status.code {
            case 200:
                return try ServerMetadata(
                    parsing: reply.body, issuer: issuer, allowsInsecureLoopback: allowsInsecureLoopback)
            case 429, 500...599: throw DiscoveryError(.unreachable)
            default: continue
            }
        }
        throw DiscoveryError(.notFound)
    }

    /// RFC 8414 puts its well-known part before the issuer's path, OpenID Connect behind it.
    static func paths(of issuer: Issuer) -> [String] {
        var path = issuer.url.path[...]
        if path.hasSuffix("/") { path.removeLast() }
        return ["/.well-known/oauth-authorization-server\(path)", "\(path)/.well-known/openid-configuration"]
    }
}
