package import FoundationEssentials

/// The revocation endpoint of one provider (RFC 7009).
package struct RevocationEndpoint: Sendable {
    /// Nil: the server has none, and every revocation says so.
    package let endpoint: EndpointURL?
    package let binding: ServerBinding
    let transport: any HTTPTransport
    let now: @Sendable () -> Date

    package init(
        endpoint: EndpointURL?, binding: ServerBinding, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.endpoint = endpoint
        self.binding = binding
        self.transport = transport
        self.now = now
    }

    /// Asks for the end of a token. `dpop` is for servers that want a proof here too.
    package func revoke(
        _ token: RevocableToken, dpop: DPoPContext? = nil, extraParameters: [FormParameter] = []
    ) async -> RevocationAttempt {
        RevocationAttempt(outcome: .unsupported, nonces: [:], requestsSent: 0)
    }
}
