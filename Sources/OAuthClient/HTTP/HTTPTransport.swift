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

    /// Closes what is still open. Requests in flight fail; later ones are refused as not sent. Does nothing unless the
    /// transport says otherwise.
    func shutdown() async
}

extension HTTPTransport {
    public func shutdown() async {}
}
