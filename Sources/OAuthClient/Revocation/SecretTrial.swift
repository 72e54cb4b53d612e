package import FoundationEssentials

/// Finds out which of several client secrets a server takes, without anything that could be spent or lost.
///
/// The revocation endpoint is asked to revoke a token that never was. RFC 7009 §2.1 has the server authenticate the client
/// first, and §2.2 has it answer 200 for a token that it does not know: so a 200 says that the secret is good,
/// `invalid_client` or `unauthorized_client` that it is not, and everything else says nothing. Only a server that refuses one secret and takes
/// another one in this way is believed; a server that takes everything has revealed nothing.
package struct SecretTrial: Sendable {
    package enum Finding: Hashable, Sendable {
        /// The first secret is good.
        case first
        /// The first secret is refused; this one, counted from zero, is accepted.
        case other(Int)
        /// None of them.
        case refused
        /// The server does not say, or there was no time to ask about all of them.
        case unknown
    }

    private let endpoint: EndpointURL
    private let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private let timeLeft: (@Sendable () -> Duration)?

    /// Nothing is lost with a reply that does not come in time, so less is enough than for a token.
    private static let leastForRequest = Duration.seconds(1)

    /// Nil where the endpoint does not authenticate the client in the way of the token endpoint.
    ///
    /// - Parameter timeLeft: For all requests together; nil: each has the time of the binding.
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
            // And some say it by a bare 401.
            case .misconfigured(.invalidClient?), .misconfigured(.unauthorizedClient?), .misconfigured(nil): continue
            case .revoked: return index == 0 ? .first : .other(index)
            default: return .unknown
            }
        }
        return .refused
    }
}
