import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A real OAuth 2.0 authorization server on loopback, for tests, demos and benchmarks.
///
/// As strict as RFC 6749, 7009, 7523, 7636, 7662, 8252, 8414, 8705, 8707, 9126, 9207, 9449 and 9728 allow, and scriptable: it can lose
/// replies, spend a refresh token and then fail, or let time pass. It keeps everything in memory and asks no one for a password, so it
/// is of no use as a server for anything else.
///
/// ```swift
/// let server = try await DevAuthorizationServer.start()
/// let login = try #require(server.issueGrant(user: "alice"))
/// server.faults.add(.status(500, afterActing: true))
/// // Your service renews alice's token here.
/// await server.shutDown()
/// ```
public final class DevAuthorizationServer: Sendable {
    private let core: ServerCore
    private let running: Task<Void, any Error>
    private let group: ServiceGroup

    private init(core: ServerCore, running: Task<Void, any Error>, group: ServiceGroup) {
        self.core = core
        self.running = running
        self.group = group
    }

    /// Returns when the server accepts connections. Throws if the port is taken.
    public static func start(
        _ configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration()
    ) async throws -> DevAuthorizationServer {
        let signer = try await IDTokenSigner(algorithm: configuration.idTokenAlgorithm)
        let (starts, start) = AsyncThrowingStream<ServerCore, any Error>.makeStream()
        let box = CoreBox()
        var logger = Logger(label: "dev-authserver")
        logger.logLevel = .error
        let listeners =
            [Listener(isSecure: false, port: configuration.port, builder: .http1())]
            + (try configuration.tls.map { tls in
                [Listener(isSecure: true, port: tls.port, builder: try .tls(configuration: tls.channel))]
            } ?? [])
        let services = try listeners.map { listener in
            try listener.builder.buildServer(
                configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: listener.port)),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: logger,
                responder: { request, writer, channel in
                    guard let core = box.core else { throw Exchange.ConnectionEnded() }
                    try await Exchange(core: core, channel: channel, isSecure: listener.isSecure)
                        .respond(to: request, writer)
                },
                onServerRunning: { channel in
                    // The core names both ports, so it is made when the last one is known.
                    let port = channel.localAddress?.port ?? listener.port
                    guard let ports = box.note(port, isSecure: listener.isSecure, of: listeners.count),
                        let plain = ports[false]
                    else { return }
                    let core = ServerCore(
                        configuration: configuration, port: plain, securePort: ports[true], signer: signer)
                    box.core = core
                    start.yield(core)
                })
        }
        var groupConfiguration = ServiceGroupConfiguration(services: services, logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = .milliseconds(200)
        let group = ServiceGroup(configuration: groupConfiguration)
        let running = Task {
            do {
                try await group.run()
                start.finish()
            } catch {
                start.finish(throwing: error)
                throw error
            }
        }
        for try await core in starts {
            return DevAuthorizationServer(core: core, running: running, group: group)
        }
        throw CancellationError()
    }

    /// Runs `body` against a server of its own.
    public static func withRunningServer<Result: Sendable>(
        _ configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        _ body: (DevAuthorizationServer) async throws -> Result
    ) async throws -> Result {
        let server = try await start(configuration)
        do {
            let result = try await body(server)
            await server.shutDown()
            return result
        } catch {
            await server.shutDown()
            throw error
        }
    }

    /// Closes the listening socket and every connection; requests under way get 200 ms.
    public func shutDown() async {
        await group.triggerGracefulShutdown()
        // The group reports requests that had to be cut off as an error; they are meant to be.
        _ = try? await running.value
    }

    /// Issuer identifier (RFC 8414 §2), from which discovery starts.
    public var issuer: String { core.issuer }
    /// What the URL of every endpoint begins with.
    public var base: String { core.base }
    public var port: Int { core.port }
    /// The protected resource's identifier (RFC 9728 §1.2).
    public var resourceURL: String { core.resourceURL }
    /// What the URL of every endpoint begins with on the TLS listener; `nil` without one.
    public var secureBase: String? { core.secureBase }
    public var log: RequestLog { core.log }
    public var faults: FaultQueue { core.faults }
    public var counters: ServerCounters { core.ledger.withLock { $0.counters } }
    public var grants: [GrantSummary] { core.grantSummaries }
    /// Every refresh token issued, in order.
    public var refreshTokens: [RefreshTokenSummary] { core.refreshTokenSummaries { _ in true } }

    /// Changes how token requests are treated from now on: those of one client, or of all that have no choice of their
    /// own.
    public func setBehaviour(_ choices: ClientBehaviour, client: String? = nil) {
        core.ledger.withLock { $0.behaviours.change(choices, of: client) }
    }

    /// What the resource says of itself and asks of tokens, from the next request on.
    ///
    /// ```swift
    /// server.protectedResource?.hostility = [.redirectedMetadata]
    /// ```
    public var protectedResource: ProtectedResourceBehaviour? {
        get { core.protectedResource.withLock { $0 } }
        set { core.protectedResource.withLock { $0 = newValue } }
    }

    /// Lets the resource take another server's tokens, as long as `authorizationServers` names its issuer. The other
    /// server must know the resource's URL: see `AuthorizationServerConfiguration.resources`.
    public func acceptTokens(of other: DevAuthorizationServer) {
        core.otherServers.withLock { $0.append(other.core) }
    }

    /// Lets codes, tokens, grace windows and nonces grow older. The time that the server shows and by which it judges
    /// DPoP proofs stays: see ``skewClock(by:)``.
    public func advanceClock(by duration: Duration) { core.clock.advance(by: duration) }

    /// Makes the server's clock wrong: its `Date`, the `iat` that it takes in proofs, its id tokens.
    public func skewClock(by duration: Duration) { core.clock.skew(by: duration) }

    /// Ends every live grant of a user. Returns their identifiers.
    @discardableResult
    public func revokeGrant(user: String) -> [String] { core.endGrants { $0.user == user } }

    /// Ends one grant. `false` if it was not live.
    @discardableResult
    public func revokeGrant(id: String) -> Bool { !core.endGrants { $0.id == id }.isEmpty }

    /// Expires the user's access tokens, as a resource server sees it; refresh tokens stay valid.
    public func expireAccessTokens(user: String) { _ = core.endAccessTokens { $0.user == user } }

    /// Decides about a device (RFC 8628) as its user would at the verification URI; no user says no. `false`: no device
    /// waits with this code.
    @discardableResult
    public func decideDevice(userCode: String, user: String?) -> Bool {
        core.decideDevice(userCode: userCode, user: user)
    }

    /// Makes every nonce handed out so far stale.
    public func forgetNonces() {
        core.proofs.forgetNonces()
        core.resourceProofs.forgetNonces()
    }

    /// Tokens as after a log-in, without one. `nil` if there is no such client.
    public func issueGrant(
        user: String, client: String = "demo", scope: String = "read", keyThumbprint: String? = nil
    ) -> IssuedGrant? {
        core.issueGrant(
            user: user, client: client, scope: scope.split(separator: " ").map(String.init),
            keyThumbprint: keyThumbprint)
    }
}

/// One address to listen on.
private struct Listener: Sendable {
    let isSecure: Bool
    let port: Int
    let builder: HTTPServerBuilder
}

/// Holds the core, which cannot be made before the ports are known.
private final class CoreBox: Sendable {
    private let storage = Mutex<ServerCore?>(nil)
    private let ports = Mutex<[Bool: Int]>([:])

    /// The ports, whether secure or not, when they are all known.
    func note(_ port: Int, isSecure: Bool, of count: Int) -> [Bool: Int]? {
        ports.withLock { ports in
            ports[isSecure] = port
            return ports.count == count ? ports : nil
        }
    }

    var core: ServerCore? {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}
