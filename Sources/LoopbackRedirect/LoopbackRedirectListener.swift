import NIOCore
import NIOHTTP1
import NIOPosix
package import OAuthClient

/// Waits on this machine for the browser to return from a log-in (RFC 8252 §7.3), and accepts exactly one answer.
///
/// ```swift
/// let listener = try await LoopbackRedirectListener.start(at: .standard)
/// // begin the log-in with `listener.redirectURI`
/// let answer = try await listener.callback(answering: state)
/// await listener.finish(showing: .done)
/// ```
///
/// It listens only on a loopback address, accepts few connections, each for a short time and one request, and only the
/// right `state` ends the wait.
package final class LoopbackRedirectListener: Sendable {
    private let channel: any Channel
    private let exchange: RedirectExchange
    /// Includes the actual port.
    package let redirectURI: String
    package let port: Int
    /// The URL that the browser opens; it redirects to the page of ``lead(to:)``. It hides the URL of the log-in, which
    /// contains its `state`, because other users can read the arguments of a program.
    package let startURL: String

    private init(channel: any Channel, exchange: RedirectExchange, uri: LoopbackRedirectURI, port: Int) {
        startURL = uri.at(path: exchange.startPath).text(port: port)
        self.channel = channel
        self.exchange = exchange
        self.port = port
        redirectURI = uri.text(port: port)
    }

    deinit {
        exchange.end(showing: .ended)
        channel.close(promise: nil)
    }

    /// Begins to listen. Every answer is rejected until ``callback(answering:)`` is called.
    ///
    /// - Parameters:
    ///   - users: the ids of the users whose programs may connect, where the system reports them; nil for all users.
    ///   - requestTime: how long a client may take to send its request.
    /// - Throws: ``LoopbackRedirectError``, for example if the port is taken.
    package static func start(
        at uri: LoopbackRedirectURI, admitting users: Set<UInt32>? = nil, requestTime: Duration = .seconds(10)
    ) async throws -> LoopbackRedirectListener {
        let exchange = RedirectExchange(path: uri.path, on: MultiThreadedEventLoopGroup.singleton.any())
        let requestTime = TimeAmount(requestTime)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 32)
            // Without it a fixed port would stay taken for a minute after each log-in.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard exchange.admit(channel) else { throw LoopbackRedirectError.tooManyConnections }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(RedirectConnection(exchange, users: users, requestTime: requestTime))
                }
            }
        do {
            let channel = try await bootstrap.bind(host: uri.bindAddress, port: uri.port ?? 0).get()
            guard let port = channel.localAddress?.port else { throw LoopbackRedirectError.cannotListen }
            exchange.open(authorities: Set(["127.0.0.1", "[::1]", "localhost"].map { "\($0):\(port)" }))
            return LoopbackRedirectListener(channel: channel, exchange: exchange, uri: uri, port: port)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            exchange.end(showing: .ended)
            throw LoopbackRedirectError.portTaken
        } catch {
            exchange.end(showing: .ended)
            throw LoopbackRedirectError.cannotListen
        }
    }

    /// Redirects the browser that opens ``startURL`` to this URL.
    package func lead(to url: String) { exchange.lead(to: url) }

    /// The answer to the log-in with `state`. Call it once.
    ///
    /// - Throws: `CancellationError`, also when the listener is closed meanwhile.
    package func callback(answering state: AuthorizationState) async throws -> LoopbackCallback {
        try await withTaskCancellationHandler {
            try await exchange.expect(state).get()
        } onCancel: {
            exchange.giveUp()
        }
    }

    /// Shows the browser how the log-in ended, and closes.
    ///
    /// - Parameter timeLimit: How long a browser that has brought the answer may take to fetch the page.
    package func finish(showing page: RedirectPage, timeLimit: Duration = .seconds(3)) async {
        await exchange.show(page, timeLimit: TimeAmount(timeLimit))
        await close()
    }

    /// Stops listening and closes all connections.
    package func close() async {
        exchange.end(showing: .ended)
        try? await channel.close()
        for connection in exchange.connections { try? await connection.close() }
    }
}

/// The reason why there is no listener.
package enum LoopbackRedirectError: Error {
    case portTaken
    case cannotListen
    /// Concerns one connection, not the listener.
    case tooManyConnections
}
