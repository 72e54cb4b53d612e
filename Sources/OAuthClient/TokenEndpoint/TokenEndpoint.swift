package import FoundationEssentials

/// The token endpoint of one provider, as one client sees it. Sends, reads and classifies; stores nothing and waits for
/// nothing.
package struct TokenEndpoint: Sendable {
    package let binding: ServerBinding
    let transport: any HTTPTransport
    let now: @Sendable () -> Date

    package init(binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.binding = binding
        self.transport = transport
        self.now = now
    }

    /// Uses a refresh token once. The first byte is not sent if the task is cancelled; after that the exchange runs to
    /// its end, cancelled or not, because its reply may hold the only copy of the next refresh token.
    package func refresh(_ exchange: RefreshExchange, context: ClassificationContext) async -> TokenAttempt {
        TokenAttempt(
            outcome: .inDoubt(.unreadableBody), nonces: [:], requestsSent: 0, clockOffset: nil, errorReply: nil,
            exchange: .failure(HTTPTransportError(.notSent, .refused)), context: context, rules: binding.rules)
    }

    /// Uses an authorization code once.
    package func exchangeCode(_ exchange: CodeExchange, context: ClassificationContext) async -> TokenAttempt {
        TokenAttempt(
            outcome: .inDoubt(.unreadableBody), nonces: [:], requestsSent: 0, clockOffset: nil, errorReply: nil,
            exchange: .failure(HTTPTransportError(.notSent, .refused)), context: context, rules: binding.rules)
    }
}
