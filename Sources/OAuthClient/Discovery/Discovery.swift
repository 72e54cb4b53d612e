import HTTPTypes

/// Finds a server's metadata (RFC 8414 §3, then OpenID Connect Discovery §4).
public enum Discovery {
    /// Asks the issuer for its metadata and rejects a document that names another issuer or an insecure endpoint.
    ///
    /// The next location is tried whenever one has no document: a server behind a web app answers an unknown path with a
    /// page, and others with their own error.
    ///
    /// - Parameters:
    ///   - issuer: the server, as its tokens and documents name it.
    ///   - transport: sends the requests, one for each location up to the first that has a document.
    ///   - allowsInsecureLoopback: accepts `http` endpoints on this machine.
    ///   - limits: how long each request may take, and how large a document may be.
    /// - Throws: ``DiscoveryError``.
    public static func metadata(
        issuer: Issuer, transport: any HTTPTransport, allowsInsecureLoopback: Bool = false,
        limits: HTTPLimits = .discovery
    ) async throws(DiscoveryError) -> ServerMetadata {
        var failures: [DiscoveryError] = []
        for path in paths(of: issuer) {
            do throws(DiscoveryError) {
                return try await metadata(
                    at: path, issuer: issuer, transport: transport, allowsInsecureLoopback: allowsInsecureLoopback,
                    limits: limits)
            } catch {
                guard error.isAboutPlace else { throw error }
                failures.append(error)
            }
        }
        // An error from one location says more than a missing document at the others.
        throw failures.first { $0.code != .notFound } ?? failures.first { $0.finding != nil }
            ?? DiscoveryError(.notFound)
    }

    private static func metadata(
        at path: String, issuer: Issuer, transport: any HTTPTransport, allowsInsecureLoopback: Bool, limits: HTTPLimits
    ) async throws(DiscoveryError) -> ServerMetadata {
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        let request = HTTPRequest(
            method: .get, scheme: issuer.url.scheme, authority: issuer.url.authority, path: path, headerFields: fields)
        let reply: HTTPReply
        do throws(HTTPTransportError) {
            reply = try await transport.exchange(request, body: [], limits: limits)
        } catch {
            switch error.code {
            case .tooLarge: throw DiscoveryError(.tooLarge, transportError: error)
            case .undecodable, .protocolViolation, .truncated:
                throw DiscoveryError(
                    .malformed, transportError: error,
                    finding: "the metadata document cannot be read: \(error.code.words)")
            default: throw DiscoveryError(.unreachable, transportError: error)
            }
        }
        switch reply.response.status.code {
        case 200:
            return try ServerMetadata(
                parsing: reply.body, issuer: issuer, allowsInsecureLoopback: allowsInsecureLoopback)
        case let status where status == 429 || (500...599).contains(status):
            throw DiscoveryError(.serverError, status: status)
        case let status where status == 401 || status == 403:
            throw DiscoveryError(
                .notFound, status: status, finding: "the server refuses to show its metadata: HTTP \(status)")
        case let status:
            let location = reply.response.headerFields[.location]
            let target =
                (300...399).contains(status)
                ? ProviderAnswer(status: status, error: nil, message: nil, location: location).location : nil
            throw DiscoveryError(
                .notFound, status: status,
                finding: target.map { "the server redirects to \($0), which is not followed" })
        }
    }

    /// RFC 8414 puts the well-known part before the issuer's path, that of OpenID Connect, too (§5); OpenID Connect itself
    /// puts it after the path.
    static func paths(of issuer: Issuer) -> [String] {
        var path = issuer.url.path[...]
        if path.hasSuffix("/") { path.removeLast() }
        let (oauth, openID) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
        return path.isEmpty ? [oauth, openID] : [oauth + path, openID + path, path + openID]
    }
}
