package import FoundationEssentials

/// The token endpoint of one provider, as one client sees it. Sends, reads and classifies; stores nothing and waits for
/// nothing.
package struct TokenEndpoint: Sendable {
    package let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date

    package init(binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date) {
        self.binding = binding
        self.transport = transport
        self.now = now
    }

    /// Uses a refresh token once (RFC 6749 §6).
    ///
    /// Nothing is sent if the task is already cancelled. After the first byte the exchange runs to its end, cancelled
    /// or not. It is repeated at most once for the proof and once without `scope`; every other decision to try again
    /// is the caller's.
    package func refresh(_ exchange: RefreshExchange, context: ClassificationContext) async -> TokenAttempt {
        await run(
            [
                FormParameter("grant_type", "refresh_token"),
                FormParameter("refresh_token", exchange.refreshToken.reveal()),
            ],
            scope: exchange.scope, extra: exchange.extraParameters, dpop: exchange.dpop, context: context)
    }

    /// Uses an authorization code once (RFC 6749 §4.1.3, RFC 7636 §4.5).
    package func exchangeCode(_ exchange: CodeExchange, context: ClassificationContext) async -> TokenAttempt {
        var context = context
        context.grantIsNew = true
        var parameters = [
            FormParameter("grant_type", "authorization_code"), FormParameter("code", exchange.code.reveal()),
        ]
        if let uri = exchange.redirectURI { parameters.append(FormParameter("redirect_uri", uri)) }
        if let verifier = exchange.codeVerifier {
            parameters.append(FormParameter("code_verifier", verifier.reveal()))
        }
        return await run(
            parameters, scope: nil, extra: exchange.extraParameters, dpop: exchange.dpop, context: context)
    }

    private func run(
        _ parameters: [FormParameter], scope: Scope?, extra: [FormParameter], dpop: DPoPContext?,
        context: ClassificationContext
    ) async -> TokenAttempt {
        var context = context
        var session = ProofSession(dpop)
        var scope = scope
        var requestsSent = 0
        // Each way round uses up one of two repeats, so there are at most three requests.
        while true {
            let scopes = scope.map { [FormParameter("scope", $0.description)] } ?? []
            prepare(&context, session, scopeWasSent: scope != nil, isRepeat: requestsSent > 0)
            guard let form = form(parameters + scopes, extra, session, at: context.startedAt),
                requestsSent > 0 || !Task.isCancelled
            else {
                let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .refused
                return attempt(.failure(HTTPTransportError(.notSent, code)), context, session, requestsSent)
            }
            requestsSent += 1
            let result = await transport.sendToTheEnd(form, limits: binding.limits)
            context.repliedAt = now()
            if case .reply(let reply) = result {
                session.learn(
                    from: reply.response, of: binding.tokenEndpoint, startedAt: context.startedAt,
                    repliedAt: context.repliedAt)
            }
            let attempt = attempt(result, context, session, requestsSent)
            switch attempt.outcome {
            case .nonceRequired, .invalidProof(.nonce), .invalidProof(.clock): context.proofWasRepeated = true
            case .scopeRefused: scope = nil
            default: return attempt
            }
        }
    }

    private func prepare(
        _ context: inout ClassificationContext, _ session: ProofSession, scopeWasSent: Bool, isRepeat: Bool
    ) {
        context.startedAt = now()
        context.repliedAt = context.startedAt
        context.proofWasSent = session.context != nil
        context.sentNonce = session.nonce(for: binding.tokenEndpoint)
        context.sentClockOffset = session.context?.clockOffset ?? .zero
        context.scopeWasSent = scopeWasSent
        context.isRepeat = context.isRepeat || isRepeat
    }

    private func form(
        _ parameters: [FormParameter], _ extra: [FormParameter], _ session: ProofSession, at now: Date
    ) -> FormRequest? {
        do throws(OAuthValueError) {
            let proof = try session.proof(for: binding.tokenEndpoint, at: now)
            return FormRequest(binding.tokenEndpoint, parameters, extra: extra, binding: binding, proof: proof)
        } catch {
            return nil
        }
    }

    private func attempt(
        _ exchange: TokenExchange, _ context: ClassificationContext, _ session: ProofSession, _ requestsSent: Int
    ) -> TokenAttempt {
        TokenAttempt(
            outcome: classify(exchange, context, binding.rules), nonces: session.learned, requestsSent: requestsSent,
            clockOffset: session.clockOffset, errorReply: ErrorTokenResponse(exchange, binding.rules),
            exchange: exchange, context: context, rules: binding.rules)
    }
}
