public import HTTPTypes

/// Sends one request and brings back one reply.
///
/// A transport never follows a redirect and never sends a request twice: a refresh token that travels a second time
/// may end the grant. It reports whether a failed request may have reached the server.
public protocol HTTPTransport: Sendable {
    /// Sends `request` with `body` once.
    ///
    /// - Throws: ``HTTPTransportError``. Its phase is `notSent` only if no byte of the request can have been written.
    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply

    /// Sends `request` with `body` once, over a TLS connection on which the client shows this certificate (RFC 8705).
    /// The connection serves no request without it, and none with another one.
    ///
    /// A transport that cannot show one has nothing to do: then nothing is sent, and the error says why. It must never
    /// send such a request without the certificate.
    ///
    /// - Throws: ``HTTPTransportError``, also `notSent` for a request that is not `https`.
    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply

    /// Closes what is still open. Requests in flight fail; later ones are refused as not sent. Does nothing unless the
    /// transport says otherwise.
    func shutdown() async
}

extension HTTPTransport {
    public func shutdown() async {}

    public func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        throw HTTPTransportError(.notSent, .noClientCertificate)
    }

    /// With a certificate if there is one to show.
    package func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate?
    ) async throws(HTTPTransportError) -> HTTPReply {
        guard let certificate else { return try await send(request, body: body, limits: limits) }
        return try await send(request, body: body, limits: limits, showing: certificate)
    }
}
