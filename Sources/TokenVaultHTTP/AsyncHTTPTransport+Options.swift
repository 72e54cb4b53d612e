import AsyncHTTPClient
import NIOCore
import NIOSSL
import OAuthClient

extension AsyncHTTPTransport {
    /// What an owner may choose. Everything else is fixed by what a token endpoint needs.
    public struct Options: Sendable {
        /// Plain `http` to `localhost`, `127.0.0.0/8` and `[::1]`: for tests and development servers.
        public var allowsInsecureLoopback: Bool
        /// The certificate authorities that may vouch for a server.
        public var trustRoots: TrustRoots
        /// The longest that an attempt to connect lasts, TLS included, even if no request waits for it any longer. A
        /// request's own `HTTPLimits` may be shorter.
        public var connectTimeout: Duration
        /// Sent as `User-Agent` where the request names none: some providers refuse requests without.
        public var userAgent: String
        /// Through which connections go; nil: straight to the provider. Plain `http` to this machine never goes through it.
        public var proxy: Proxy?
        /// Whether nothing may be sent to an address, in the form of RFC 5952: for services that take providers from their
        /// customers, who could have it ask machines that they cannot reach themselves. Asked before connecting, and again
        /// of the address that was connected to; not where a proxy decides. See
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

    /// Certificate authorities: those of the system, and perhaps a company's own.
    public struct TrustRoots: Sendable {
        let additional: [NIOSSLCertificate]

        /// The system's certificate store.
        public static let system = TrustRoots(additional: [])

        /// The system's store and the certificates of a PEM file, for providers inside a company.
        ///
        /// - Throws: when the file cannot be read or holds no certificate.
        public static func systemAnd(pemFile path: String) throws -> TrustRoots {
            let certificates = try NIOSSLCertificate.fromPEMFile(path)
            guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            return TrustRoots(additional: certificates)
        }
    }

    /// The most that one connection may deliver, in bytes and whatever `HTTPLimits` say: it also counts what never
    /// becomes a reply, such as an endless row of `100 Continue`.
    static let bytesPerConnection = 2 << 20
    /// The most that may come before a reply's head is whole: 16 informational heads, handshake and all. One read may
    /// bring 64 KiB, and the head may end in it.
    static let bytesBeforeHead = 256 << 10
    /// The most pieces of a body. A piece is a read's worth or a chunk, so no server needs a chunk for every byte.
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
