import AsyncHTTPClient
import NIOCore
import NIOSSL

extension AuthorizingClient {
    /// The settings that an owner may choose.
    public struct Options: Sendable {
        /// The certificate authorities that may vouch for a server.
        public var trustRoots: AsyncHTTPTransport.TrustRoots
        public var connectTimeout: Duration
        /// The time from the start of a request to the head of its reply, and then between two pieces of its body.
        public var timeout: Duration
        /// How long a request waits for a token to be renewed; nil to wait as long as it takes.
        public var tokenDeadline: Duration?
        /// Sent as `User-Agent` where the request has none.
        public var userAgent: String
        /// The proxy for connections; nil to connect directly to the API. Plain `http` to this machine never uses it.
        public var proxy: AsyncHTTPTransport.Proxy?
        /// The total time that a request waits for the repeats of others; then it is repeated without waiting. Tests, which
        /// must not know how fast the machine is, wait longer.
        package var longestWait = Duration.seconds(45)

        public init(
            trustRoots: AsyncHTTPTransport.TrustRoots = .system, connectTimeout: Duration = .seconds(10),
            timeout: Duration = .seconds(60), tokenDeadline: Duration? = .seconds(60), userAgent: String = "TokenVault",
            proxy: AsyncHTTPTransport.Proxy? = nil
        ) {
            self.trustRoots = trustRoots
            self.connectTimeout = connectTimeout
            self.timeout = timeout
            self.tokenDeadline = tokenDeadline
            self.userAgent = userAgent
            self.proxy = proxy
        }
    }
}

extension HTTPClient.Configuration {
    /// A request that waits for one of these is given up after the time to connect, although the API can be reached. So
    /// there must be enough for all that a slow API has to answer; half of the 1 024 descriptors that a service has, unless
    /// told otherwise.
    private static let mostConnectionsPerHost = 512

    /// Connections are reused, because a request that fails on the way costs no token here. Redirects are not followed,
    /// and no proxy is taken from the environment.
    static func resources(
        _ options: AuthorizingClient.Options, _ route: CertificateClients.Route
    ) throws -> Self {
        // An unreachable API is reported immediately, not after the last of many attempts.
        var pool = ConnectionPool()
        pool.retryConnectionEstablishment = false
        pool.concurrentHTTP1ConnectionsPerHostSoftLimit = mostConnectionsPerHost
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try .client(options.trustRoots, showing: route.certificate),
            redirectConfiguration: .disallow,
            timeout: Timeout(connect: TimeAmount(options.connectTimeout), read: TimeAmount(options.timeout)),
            connectionPool: pool, proxy: route.isDirect ? nil : options.proxy?.configuration, decompression: .disabled)
        // The guard supports only HTTP/1.1.
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture { try channel.guardResponseHeads(isTapped: false) }
        }
        return configuration
    }
}
