public import HTTPTypes

/// Sends one request and returns one reply.
///
/// A transport never follows a redirect and never sends a request twice: a refresh token that is sent twice may end the
/// grant. It reports whether a failed request may have reached the server.
public protocol HTTPTransport: Sendable {
    /// Sends `request` with `body` once.
    ///
    /// - Throws: ``HTTPTransportError``. Its phase is `notSent` only if no byte of the request can have been written.
    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply

    /// Sends `request` with `body` once, over a TLS connection on which the client presents this certificate (RFC
    /// 8705). The connection is not shared with requests that have no certificate or another one.
    ///
    /// A transport that cannot present a certificate need not implement this: then nothing is sent, and the error says
    /// why. It must never send such a request without the certificate.
    ///
    /// - Throws: ``HTTPTransportError``, also `notSent` for a request that is not `https`.
    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply

    /// Closes open connections. Requests in flight fail, and later ones are rejected as not sent. By default it does
    /// nothing.
    func shutdown() async

    /// Whether it sends plain `http` to servers on this machine, for development. By default it does not.
    var allowsInsecureLoopback: Bool { get }

    /// Whether it connects to addresses outside the public network: this machine, private networks, metadata services. A service
    /// whose users bring addresses must not. By default it may.
    var mayReachPrivateAddresses: Bool { get }
}

extension HTTPTransport {
    public func shutdown() async {}

    public var allowsInsecureLoopback: Bool { false }
    public var mayReachPrivateAddresses: Bool { true }

    public func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        throw HTTPTransportError(.notSent, .noClientCertificate)
    }

    /// Sends with a certificate if there is one.
    package func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate?
    ) async throws(HTTPTransportError) -> HTTPReply {
        guard let certificate else { return try await send(request, body: body, limits: limits) }
        return try await send(request, body: body, limits: limits, showing: certificate)
    }
}
