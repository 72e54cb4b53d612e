package import FoundationEssentials

/// Finds out which of several client secrets a server accepts, without anything that could be spent or lost.
///
/// It asks the revocation endpoint to revoke a token that never existed. RFC 7009 §2.1 requires the server to
/// authenticate the client first, and §2.2 requires a 200 for an unknown token. So a 200 means that the secret is
/// valid, `invalid_client` or `unauthorized_client` means that it is not, and any other answer proves nothing. The
/// trial trusts only a server that rejects one secret and accepts another; a server that accepts everything reveals
/// nothing.
package struct SecretTrial: Sendable {
    package enum Finding: Hashable, Sendable {
        /// The first secret is valid.
        case first
        /// The first secret is refused; this one, counted from zero, is accepted.
        case other(Int)
        /// All secrets are rejected.
        case refused
        /// The server does not say, or there was no time to try all of them.
        case unknown
    }

    private let endpoint: EndpointURL
    private let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private let timeLeft: (@Sendable () -> Duration)?

    /// Nothing is lost with a late reply, so it needs less time than a token request.
    private static let leastForRequest = Duration.seconds(1)

    /// Nil where the endpoint authenticates the client differently from the token endpoint.
    ///
    /// - Parameter timeLeft: The time for all requests together; if nil, each has the binding's time.
    package init?(
        endpoint: EndpointURL?, binding: ServerBinding, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date, timeLeft: (@Sendable () -> Duration)? = nil
    ) {
        let style = binding.revocation
        guard let endpoint, style.authentication == .client, style.carrier != .bearer,
            style.doneStatuses == [200], binding.rules.successMember == nil
        else { return nil }
        self.endpoint = endpoint
        self.binding = binding
        self.transport = transport
        self.now = now
        self.timeLeft = timeLeft
    }

    /// At most one request for each secret.
    package func run() async -> Finding {
        for (index, candidate) in binding.candidates.enumerated() {
            let time = timeLeft?() ?? candidate.limits.timeout
            guard time >= Self.leastForRequest,
                let token = try? RefreshToken("no-such-token-" + CodeVerifier.random().reveal())
            else { return .unknown }
            var candidate = candidate
            candidate.limits = candidate.limits.within(time)
            let endpoint = RevocationEndpoint(
                endpoint: endpoint, binding: candidate, transport: transport, now: now)
            switch await endpoint.revoke(.refresh(token)).outcome {
            // Some servers call a client with a wrong secret unauthorized.
            // Others send a bare 401.
            case .misconfigured(.invalidClient?), .misconfigured(.unauthorizedClient?), .misconfigured(nil): continue
            case .revoked: return index == 0 ? .first : .other(index)
            default: return .unknown
            }
        }
        return .refused
    }
}
