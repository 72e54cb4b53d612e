package import FoundationEssentials
import HTTPTypes

/// The token endpoint of one provider, as one client sees it. Sends, reads and classifies; stores nothing and waits for
/// nothing.
package struct TokenEndpoint: Sendable {
    package let binding: ServerBinding
    private let transport: any HTTPTransport
    private let now: @Sendable () -> Date
    private let timeLeft: (@Sendable () -> Duration)?
    private let nonces: ServerNonces?
    private let mayRepeat: (@Sendable () -> Bool)?

    /// What a repeat for the proof or the scope must have: with less it is left to the next exchange.
    private static let leastForRepeat = Duration.seconds(10)

    /// - Parameters:
    ///   - timeLeft: For all requests of an exchange together; nil: each has the time of the binding.
    ///   - nonces: What is known of nonces from other exchanges, and is told to them.
    ///   - mayRepeat: Asked after a repeat has waited for others.
    package init(
        binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date,
        timeLeft: (@Sendable () -> Duration)? = nil, nonces: ServerNonces? = nil,
        mayRepeat: (@Sendable () -> Bool)? = nil
    ) {
        self.binding = binding
        self.transport = transport
        self.now = now
        self.timeLeft = timeLeft
        self.nonces = nonces
        self.mayRepeat = mayRepeat
    }

    /// Uses a refresh token once (RFC 6749 §6), with the first client secret and no other.
    ///
    /// Nothing is sent if the task is already cancelled. After the first byte the exchange runs to its end, cancelled
    /// or not. It is repeated up to five times for a new nonce, once for a proof that is refused otherwise and once
    /// without `scope`; every other decision to try again is the caller's.
    package func refresh(_ exchange: RefreshExchange, context: ClassificationContext) async -> TokenAttempt {
        let parameters =
            [
                FormParameter("grant_type", "refresh_token"),
                FormParameter("refresh_token", exchange.refreshToken.reveal()),
            ] + exchange.resources.map { FormParameter("resource", $0) }
        var context = context
        context.sentRefreshToken = exchange.refreshToken
        return await run(
            TokenRequest(
                endpoint: binding.refreshEndpoint ?? binding.tokenEndpoint, parameters: parameters,
                scope: exchange.scope, extra: exchange.extraParameters + binding.style.refreshParameters,
                carriesGrant: true, insistsOnScope: exchange.insistsOnScope, takesNewestNonce: true),
            ProofSession(exchange.dpop), context)
    }

    /// Uses an authorization code once (RFC 6749 §4.1.3, RFC 7636 §4.5), with the first client secret and no other.
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
        parameters += exchange.resources.map { FormParameter("resource", $0) }
        return await run(
            TokenRequest(
                endpoint: binding.tokenEndpoint, parameters: parameters, scope: nil,
                extra: exchange.extraParameters + binding.style.codeParameters, carriesGrant: true),
            ProofSession(exchange.dpop), context)
    }

    /// Gives a token of the app's own server in exchange for tokens of this one.
    ///
    /// It counts as something that can be spent, because many servers take an assertion once.
    package func exchange(_ exchange: AuthTokenExchange, context: ClassificationContext) async -> TokenAttempt {
        await run(
            TokenRequest(
                endpoint: binding.tokenEndpoint, parameters: exchange.parameters, scope: exchange.scope,
                extra: exchange.rules.parameters, carriesGrant: true),
            ProofSession(exchange.dpop), context)
    }

    /// Asks for a token of the client's own (RFC 6749 §4.4). The request carries nothing that can be spent, so a
    /// client secret that is refused is followed by the next one.
    package func clientCredentials(
        scope: Scope? = nil, resources: [String] = [], dpop: DPoPContext? = nil, extraParameters: [FormParameter] = []
    ) async -> TokenAttempt {
        let request = TokenRequest(
            endpoint: binding.tokenEndpoint,
            parameters: [FormParameter("grant_type", "client_credentials")]
                + resources.map { FormParameter("resource", $0) },
            scope: scope, extra: extraParameters, carriesGrant: false)
        let context = ClassificationContext(expectedTokenType: dpop == nil ? .bearer : .dpop)
        var attempt = await run(request, ProofSession(dpop), context)
        for candidate in binding.candidates.dropFirst() {
            guard case .misconfigured(.client(.invalidClient)) = attempt.outcome else { break }
            let next = TokenEndpoint(binding: candidate, transport: transport, now: now)
            attempt = await next.run(request, ProofSession(dpop), context)
        }
        return attempt
    }

    private func run(
        _ request: TokenRequest, _ session: ProofSession, _ context: ClassificationContext
    ) async -> TokenAttempt {
        var exchange = RunningExchange(request: request, session: session, context: context)
        if request.takesNewestNonce, let nonces { exchange.takeNewest(nonces) }
        if let failure = await fetchNonce(&exchange) { return attempt(.failure(failure), exchange) }
        var isRepeat = false
        // Each way round uses up one of the repeats for a nonce, of one for the proof otherwise, and of one for the scope.
        while true {
            prepare(&exchange, isRepeat: isRepeat)
            guard let form = form(exchange), isRepeat || !Task.isCancelled else {
                nonces?.leaveGate(&exchange, isRefused: false)
                let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .refused
                return attempt(.failure(HTTPTransportError(.notSent, code)), exchange)
            }
            isRepeat = true
            exchange.grantsSent += 1
            let result = await send(form, &exchange)
            let attempt = attempt(result, exchange)
            nonces?.learn(from: result, attempt.outcome, &exchange)
            guard timeLeft.map({ $0() >= Self.leastForRepeat }) ?? true else { return attempt }
            switch attempt.outcome {
            case .nonceRequired, .invalidProof(.nonce):
                guard await queueForRepeat(&exchange) else { return attempt }
            case .invalidProof(.clock): exchange.context.proofWasRepeated = true
            case .scopeRefused where !exchange.request.insistsOnScope: exchange.request.scope = nil
            default: return attempt
            }
        }
    }

    /// Waits until a repeat has a chance to come in time with its nonce. False: it must not be made.
    private func queueForRepeat(_ exchange: inout RunningExchange) async -> Bool {
        exchange.context.noteRefusedNonce()
        guard let nonces else { return true }
        let (origin, tries) = (exchange.request.endpoint.origin, exchange.context.nonceRepeats)
        let time = (timeLeft?() ?? binding.limits.timeout) - Self.leastForRepeat
        // What was begun is brought to its end, cancelled or not.
        exchange.pass = await Task { await nonces.gate.enter(origin, tries: tries, within: time) }.value
        // Without a time of its own it goes on beside the gate.
        guard exchange.pass != nil || timeLeft == nil else { return false }
        if exchange.pass?.hasWaited != false, let mayRepeat, !mayRepeat() {
            nonces.leaveGate(&exchange, isRefused: false)
            return false
        }
        exchange.takeNewest(nonces)
        return true
    }

    /// Where the server spends what it is given before it asks for a nonce, one is fetched first, by a request that
    /// carries neither a refresh token nor a code. Whatever it answers, the nonce is in the header (RFC 9449 §8.2).
    private func fetchNonce(_ exchange: inout RunningExchange) async -> HTTPTransportError? {
        let request = exchange.request
        guard binding.style.requiresNonce, request.carriesGrant, exchange.session.context != nil,
            exchange.session.nonce(for: request.endpoint) == nil, !Task.isCancelled
        else { return nil }
        let grantType = request.parameters.filter { $0.name == "grant_type" }
        exchange.context.startedAt = now()
        guard let form = form(exchange, grantType) else { return HTTPTransportError(.notSent, .refused) }
        switch await send(form, &exchange) {
        case .failure(let error): return HTTPTransportError(.notSent, error.code)
        case .reply(let reply):
            // A server that is up and gives no nonce does not want one; one that is not up is asked later.
            let status = reply.response.status.code
            let isUp = status < 500 && status != 429
            return isUp || exchange.session.nonce(for: request.endpoint) != nil
                ? nil : HTTPTransportError(.notSent, .connect)
        }
    }

    private func send(_ form: FormRequest, _ exchange: inout RunningExchange) async -> TokenExchange {
        exchange.requestsSent += 1
        let limits = timeLeft.map { binding.limits.within($0()) } ?? binding.limits
        let result = await transport.sendToTheEnd(form, limits: limits)
        exchange.context.repliedAt = now()
        if case .reply(let reply) = result {
            exchange.session.learn(
                from: reply.response, of: exchange.request.endpoint, startedAt: exchange.context.startedAt,
                repliedAt: exchange.context.repliedAt)
        }
        return result
    }

    private func prepare(_ exchange: inout RunningExchange, isRepeat: Bool) {
        let session = exchange.session
        exchange.context.startedAt = now()
        exchange.context.repliedAt = exchange.context.startedAt
        exchange.context.proofWasSent = session.context != nil
        exchange.context.sentNonce = session.nonce(for: exchange.request.endpoint)
        exchange.context.sentClockOffset = session.context?.clockOffset ?? .zero
        exchange.context.scopeWasSent = exchange.request.scope != nil
        exchange.context.isRepeat = exchange.context.isRepeat || isRepeat
    }

    /// - Parameter parameters: instead of the request's own.
    private func form(_ exchange: RunningExchange, _ parameters: [FormParameter]? = nil) -> FormRequest? {
        let request = exchange.request
        let at = exchange.context.startedAt
        let scopes = request.scope.map { scope in
            [FormParameter("scope", scope.tokens.joined(separator: binding.style.scopeSeparator))]
        }
        do throws(OAuthValueError) {
            let proof = try exchange.session.proof(for: request.endpoint, at: at)
            return try FormRequest(
                request.endpoint, parameters ?? (request.parameters + (scopes ?? [])),
                extra: parameters == nil ? request.extra : [], binding: binding, proof: proof,
                issuedAt: exchange.session.corrected(at))
        } catch {
            return nil
        }
    }

    private func attempt(_ result: TokenExchange, _ exchange: RunningExchange) -> TokenAttempt {
        TokenAttempt(
            outcome: classify(result, exchange.context, binding.rules), nonces: exchange.session.learned,
            requestsSent: exchange.requestsSent, grantsSent: exchange.grantsSent,
            clockOffset: exchange.session.clockOffset,
            errorReply: ErrorTokenResponse(result, binding.rules), exchange: result, context: exchange.context,
            rules: binding.rules)
    }
}
