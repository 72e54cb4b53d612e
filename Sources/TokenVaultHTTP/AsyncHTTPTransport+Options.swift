import AsyncHTTPClient
import NIOCore
import NIOSSL
import OAuthClient

extension AsyncHTTPTransport {
    /// The settings that an owner may choose. Everything else is fixed by the needs of a token endpoint.
    public struct Options: Sendable {
        /// Plain `http` to `localhost`, `127.0.0.0/8` and `[::1]`: for tests and development servers.
        public var allowsInsecureLoopback: Bool
        /// The certificate authorities that may vouch for a server.
        public var trustRoots: TrustRoots
        /// The maximum duration of an attempt to connect, TLS included, even if no request waits for it any longer. A
        /// request's own `HTTPLimits` may be shorter.
        public var connectTimeout: Duration
        /// Sent as `User-Agent` where the request has none: some providers reject requests without one.
        public var userAgent: String
        /// The proxy for connections; nil to connect directly to the provider. Plain `http` to this machine never uses
        /// it.
        public var proxy: Proxy?
        /// Whether an address, in the form of RFC 5952, is denied: for services whose customers configure providers,
        /// and who could make the service call machines that they cannot reach themselves. Called before connecting,
        /// and again with the address that was connected to, but not where a proxy decides. See
        /// ``AsyncHTTPTransport/isSpecialPurpose(_:)``.
        public var deniesAddress: (@Sendable (String) -> Bool)?

        public init(
            allowsInsecureLoopback: Bool = false,
            trustRoots: TrustRoots = .system,
            connectTimeout: Duration = .seconds(10),
            userAgent: String = "TokenVault",
            proxy: Proxy? = nil,
            deniesAddress: (@Sendable (String) -> Bool)? = nil
        ) {
            self.allowsInsecureLoopback = allowsInsecureLoopback
            self.trustRoots = trustRoots
            self.connectTimeout = connectTimeout
            self.userAgent = userAgent
            self.proxy = proxy
            self.deniesAddress = deniesAddress
        }
    }

    /// Certificate authorities: those of the system, and optionally a company's own.
    public struct TrustRoots: Sendable {
        let additional: [NIOSSLCertificate]

        /// The system's certificate store.
        public static let system = TrustRoots(additional: [])

        /// The system's store plus the certificates of a PEM file, for providers inside a company.
        ///
        /// - Throws: An error if the file cannot be read or contains no certificate.
        public static func systemAnd(pemFile path: String) throws -> TrustRoots {
            let certificates = try NIOSSLCertificate.fromPEMFile(path)
            guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            return TrustRoots(additional: certificates)
        }
    }

    /// The maximum number of bytes that one connection may deliver, whatever `HTTPLimits` say: it also counts bytes
    /// that never become a reply, such as an endless series of `100 Continue`.
    static let bytesPerConnection = 2 << 20
    /// The maximum number of bytes before a reply's head is complete: 16 informational heads, handshake and all. One
    /// read may bring 64 KiB, and the head may end in it.
    static let bytesBeforeHead = 256 << 10
    /// The maximum number of pieces of a body. A piece is one read or one chunk, so no server needs a chunk for every
    /// byte.
    static let mostBodyParts = 8_192
}

extension HTTPClient.Configuration {
    static func oneRequestPerConnection(
        _ options: AsyncHTTPTransport.Options, _ route: CertificateClients.Route
    ) throws -> Self {
        var pool = HTTPClient.Configuration.ConnectionPool(idleTimeout: .zero)
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try .client(options.trustRoots, showing: route.certificate),
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: TimeAmount(options.connectTimeout)),
            connectionPool: pool,
            proxy: route.isDirect ? nil : options.proxy?.configuration,
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        configuration.maximumUsesPerConnection = 1
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                if let denies = options.deniesAddress(route),
                    channel.remoteAddress?.ipAddress.map(denies) ?? true
                {
                    throw HTTPTransportError(.notSent, .refused)
                }
                let limit = ConnectionByteLimit(
                    AsyncHTTPTransport.bytesPerConnection, mostOfHead: AsyncHTTPTransport.bytesBeforeHead)
                try channel.pipeline.syncOperations.addHandler(limit, position: .first)
                try channel.guardResponseHeads(isTapped: true, onHead: limit.headArrived)
            }
        }
        return configuration
    }
}
