/// The limits of one exchange.
public struct HTTPLimits: Hashable, Sendable {
    /// The maximum length of a body; a longer reply is rejected.
    public var bodyBytes: Int
    /// The maximum length of the names and values of all header fields together.
    public var headerBytes: Int
    public var headerFields: Int
    /// The time from the first attempt to connect until connected, TLS included.
    public var connectTimeout: Duration
    /// The time from the first attempt to connect to the last byte of the reply.
    public var timeout: Duration

    public init(
        bodyBytes: Int = 262_144, headerBytes: Int = 32_768, headerFields: Int = 64,
        connectTimeout: Duration = .seconds(10), timeout: Duration = .seconds(30)
    ) {
        self.bodyBytes = bodyBytes
        self.headerBytes = headerBytes
        self.headerFields = headerFields
        self.connectTimeout = connectTimeout
        self.timeout = timeout
    }

    /// The same limits with a timeout of at most this time.
    package func within(_ time: Duration) -> HTTPLimits {
        var limits = self
        limits.timeout = max(.milliseconds(1), min(timeout, time))
        limits.connectTimeout = min(connectTimeout, limits.timeout)
        return limits
    }

    /// 30 seconds, because a server's replay window is often that long: a shorter timeout turns slow replies into lost
    /// ones.
    public static let tokenEndpoint = HTTPLimits()
    /// Metadata documents are small, and nothing is lost by giving up early.
    public static let discovery = HTTPLimits(bodyBytes: 1_048_576, timeout: .seconds(15))
}
