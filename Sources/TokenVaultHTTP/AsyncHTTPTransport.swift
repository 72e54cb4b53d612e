import AsyncHTTPClient
public import HTTPTypes
import NIOCore
public import OAuthClient

/// The network of a vault: sends each request exactly once, over its own connection.
///
/// ```swift
/// let users = try await UserManager(vault: vault, transport: AsyncHTTPTransport())
/// ```
///
/// Because a refresh token often works only once, the transport does not:
///
/// - follow redirects: the reply is returned unchanged, so that a token never reaches a host that you did not
///   configure;
/// - send anything twice: it retries neither requests nor connection attempts;
/// - reuse a connection: a server may close an idle connection at the moment a request is written to it, and then it is
///   unknown whether the request was processed. Every request opens its own and closes it after the reply;
/// - take a proxy from the environment: it uses ``Options/proxy``, or none;
/// - share a connection between requests with different client certificates;
/// - speak plain `http`, unless ``Options/allowsInsecureLoopback`` is set and the host is this machine.
///
/// TLS is at least 1.2 with the host name verified. Every reply is bounded: in bytes, in header fields and, by
/// `HTTPLimits`, by one deadline for everything from name resolution to the last byte of the body.
public final class AsyncHTTPTransport: HTTPTransport {
    let clients: CertificateClients
    let options: Options

    public init(options: Options = Options()) {
        self.options = options
        clients = CertificateClients { try .oneRequestPerConnection(options, $0) }
    }

    /// Closes open connections. Requests in flight fail, and later ones are rejected as not sent.
    ///
    /// Close the vault first: it waits for renewals in progress, which would end in doubt without their connections.
    /// Waits for abandoned attempts to connect, so at most ``Options/connectTimeout``.
    public func shutdown() async { await clients.shutDown() }

    public var allowsInsecureLoopback: Bool { options.allowsInsecureLoopback }

    /// False with ``Options/deniesAddress`` such as ``isSpecialPurpose(_:)``. True behind a proxy, which decides by itself.
    public var mayReachPrivateAddresses: Bool {
        guard options.proxy == nil, let denies = options.deniesAddress else { return true }
        return !["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "::1", "fd00::1", "fe80::1"]
            .allSatisfy(denies)
    }

    /// Sends `request` once and reads the whole reply.
    ///
    /// - Throws: `HTTPTransportError`, whose phase says whether the server may have seen the request: not while
    ///   resolving, connecting and shaking hands, but possibly once its first byte was written.
    public func send(
        _ request: HTTPRequest,
        body: [UInt8],
        limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await exchange(request, body, limits, nil)
    }

    /// The same with a client certificate (RFC 8705). Plain `http` is rejected, because it cannot present one.
    public func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        try await exchange(request, body, limits, certificate)
    }

    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], _ limits: HTTPLimits, _ certificate: ClientCertificate?
    ) async throws(HTTPTransportError) -> HTTPReply {
        let target = try RequestTarget(request, allowsInsecureLoopback: options.allowsInsecureLoopback)
        guard certificate == nil || !target.isPlain else { throw HTTPTransportError(.notSent, .refused) }
        let outgoing = try target.clientRequest(request, body: body, userAgent: options.userAgent)
        let exchange = Exchange(limits: limits)
        // Plain http to this machine means this machine, even where a proxy is set.
        let route = CertificateClients.Route(
            certificate: certificate, isDirect: target.isPlain && options.proxy != nil)
        try await refuseDenied(target.host, route)
        let lease = try clients.lease(route)
        defer { withExtendedLifetime(lease) {} }
        let client = lease.client
        let eventLoop = client.eventLoopGroup.any()
        // Delegate and channel share one event loop: "head sent" is noted in the same iteration in which the head is
        // written, so no deadline or cancellation can come between the two and report a sent request as unsent.
        let task = client.execute(
            request: outgoing,
            delegate: exchange,
            eventLoop: .delegateAndChannel(on: eventLoop),
            deadline: .now() + TimeAmount(limits.timeout)
        )
        let connectTimer = eventLoop.scheduleTask(in: TimeAmount(limits.connectTimeout)) {
            if !exchange.mayHaveBeenSent {
                task.fail(reason: HTTPClientError.connectTimeout)
            }
        }
        let result = await withTaskCancellationHandler {
            do {
                return Result<HTTPReply, any Error>.success(try await task.get())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            task.cancel()
        }
        connectTimer.cancel()
        switch result {
        case .success(let reply):
            return reply
        case .failure(let error):
            throw HTTPTransportError(
                error, mayHaveBeenSent: exchange.mayHaveBeenSent, received: exchange.received)
        }
    }
}
