import HTTPTypes
import OAuthClient
import Synchronization
import TokenVaultHTTP

/// The real transport, with the relay between it and the server.
final class SeamTransport: HTTPTransport {
    private let inner: AsyncHTTPTransport
    private let relay: Relay
    private let striker: Striker
    private let sent = Mutex(0)
    /// Called when a reply has come, before the engine has it.
    private let onReply: @Sendable (Int) -> Void

    init(_ inner: AsyncHTTPTransport, server: Int, _ striker: Striker, onReply: @escaping @Sendable (Int) -> Void)
        throws
    {
        self.inner = inner
        self.striker = striker
        self.onReply = onReply
        relay = try Relay(to: server, striker)
    }

    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply {
        let number = sent.withLock { count in
            count += 1
            return count
        }
        striker.reach(.beforeSend, of: number)
        var request = request
        request.authority = "127.0.0.1:\(relay.port)"
        let reply = try await inner.send(request, body: body, limits: limits)
        striker.reach(.afterSend, of: number)
        onReply(number)
        return reply
    }
}
