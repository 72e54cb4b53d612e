package import FoundationEssentials
import HTTPTypes

/// The token endpoint of one provider, as one client sees it. Sends, reads and classifies; stores nothing and waits for
/// nothing.
package struct TokenEndpoint: Sendable {
    private let sender: EndpointSender
    private let timeLeft: (@Sendable () -> Duration)?
    private let nonces: ServerNonces?
    private let mayGoOn: (@Sendable () async -> Bool)?

    /// The minimum time for a repeat for the proof or the scope; with less, the repeat is left to the next call.
    private static let leastForRepeat = Duration.seconds(10)

    /// - Parameters:
    ///   - timeLeft: The time for all requests of a call together; if nil, each has the binding's time.
    ///   - nonces: Nonces that are shared with other requests.
    ///   - mayGoOn: Called before each further request of a call: a reply has been awaited since the caller decided to
    ///     send, and much may have happened. If it returns false, nothing more is sent.
    package init(
        binding: ServerBinding, transport: any HTTPTransport, now: @escaping @Sendable () -> Date,
        timeLeft: (@Sendable () -> Duration)? = nil, nonces: ServerNonces? = nil,
        mayGoOn: (@Sendable () async -> Bool)? = nil
    ) {
        self.init(
            EndpointSender(binding: binding, transport: transport, now: now), timeLeft: timeLeft, nonces: nonces,
            mayGoOn: mayGoOn)
    }

    private init(
        _ sender: EndpointSender, timeLeft: (@Sendable () -> Duration)?, nonces: ServerNonces?,
        mayGoOn: (@Sendable () async -> Bool)?
    ) {
        self.sender = sender
        self.timeLeft = timeLeft
        self.nonces = nonces
        self.mayGoOn = mayGoOn
    }

    package var binding: ServerBinding { sender.binding }

    /// Uses a refresh token once (RFC 6749 §6), with the first client secret and no other.
    ///
    /// Nothing is sent if the task is already cancelled. After the first byte the request runs to its end, cancelled or
    /// not. It is repeated up to five times for a new nonce, once for a proof that is rejected otherwise and once
    /// without `scope`; every other retry is the caller's decision.
    package func refresh(_ request: RefreshRequest, context: ClassificationContext) async -> TokenAttempt {
        let parameters =
            [
                FormParameter("grant_type", binding.style.refreshGrantType),
                FormParameter("refresh_token", request.refreshToken.reveal()),
            ] + request.resources.map { FormParameter("resource", $0) }
        var context = context
        context.sentRefreshToken = request.refreshToken
        return await run(
            TokenRequest(
                endpoint: binding.refreshEndpoint ?? binding.tokenEndpoint, parameters: parameters,
                scope: request.scope, extra: request.extraParameters + binding.style.refreshParameters,
                carriesGrant: true, insistsOnScope: request.insistsOnScope, takesNewestNonce: true,
                asksByQuery: binding.style.refreshMethod == .get, sendsClient: binding.style.refreshSendsClient),
            ProofSession(request.dpop), context)
    }

    /// Uses an authorization code once (RFC 6749 §4.1.3, RFC 7636 §4.5), with the first client secret and no other.
    package func exchangeCode(_ request: CodeRequest, context: ClassificationContext) async -> TokenAttempt {
        var context = context
        context.grantIsNew = true
        var parameters = [
            FormParameter("grant_type", "authorization_code"), FormParameter("code", request.code.reveal()),
        ]
        if let uri = request.redirectURI { parameters.append(FormParameter("redirect_uri", uri)) }
        if let verifier = request.codeVerifier {
            parameters.append(FormParameter("code_verifier", verifier.reveal()))
        }
        parameters += request.resources.map { FormParameter("resource", $0) }
        let attempt = await run(
            TokenRequest(
                endpoint: binding.tokenEndpoint, parameters: parameters, scope: nil,
                extra: request.extraParameters + binding.style.codeParameters, carriesGrant: true),
            ProofSession(request.dpop), context)
        guard let first = binding.style.firstExchange, case .success(let young) = attempt.outcome else {
            return attempt
        }
        return await exchange(young, by: first, context)
    }

    /// Exchanges the token that came for a code for one that lives longer. Without it the login would be over in an hour,
    /// so its failure is that of the log-in.
    private func exchange(
        _ young: IssuedTokens, by first: ProviderProfile.FirstExchange, _ context: ClassificationContext
    ) async -> TokenAttempt {
        var parameters = [FormParameter("grant_type", first.grantType)]
        if first.sendsSecretAlone, let secret = binding.authentication.secret {
            parameters.append(FormParameter("client_secret", secret.reveal()))
        }
        parameters.append(FormParameter(first.parameter, young.accessToken.reveal()))
        let attempt = await run(
            TokenRequest(
                endpoint: first.endpoint, parameters: parameters, scope: nil, extra: [], carriesGrant: true,
                asksByQuery: first.method == .get, sendsClient: first.sendsClient && !first.sendsSecretAlone),
            ProofSession(nil), context)
        return attempt.with { tokens in
            tokens.attributes.merge(young.attributes) { new, _ in new }
            tokens.scope = tokens.scope ?? young.scope
        }
    }

    /// Asks whether the user has approved, and gets the tokens if so (RFC 8628 §3.4).
    package func redeemDeviceCode(_ request: DeviceCodeRequest, context: ClassificationContext) async -> TokenAttempt {
        var context = context
        context.grantIsNew = true
        var parameters = [
            FormParameter("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            FormParameter("device_code", request.deviceCode.reveal()),
        ]
        if let verifier = request.codeVerifier { parameters.append(FormParameter("code_verifier", verifier.reveal())) }
        parameters += request.resources.map { FormParameter("resource", $0) }
        return await run(
            TokenRequest(
                endpoint: binding.tokenEndpoint, parameters: parameters, scope: nil, extra: [], carriesGrant: true),
            ProofSession(request.dpop), context)
    }

    /// Exchanges a token of the app's own server for tokens of this one.
    ///
    /// It counts as spendable, because many servers accept an assertion only once.
    package func exchange(_ exchange: AuthTokenExchange, context: ClassificationContext) async -> TokenAttempt {
        await run(
            TokenRequest(
                endpoint: binding.tokenEndpoint, parameters: exchange.parameters, scope: exchange.scope,
                extra: exchange.rules.parameters, carriesGrant: true),
            ProofSession(exchange.dpop), context)
    }

    /// Requests a token for the client itself (RFC 6749 §4.4). The request carries nothing that can be spent, so after
    /// a rejected client secret the next one is tried.
    ///
    /// - Parameter insistsOnScope: Whether a token of another scope is useless: then nothing is repeated without it.
    package func clientCredentials(
        scope: Scope? = nil, insistsOnScope: Bool = false, resources: [String] = [], dpop: DPoPContext? = nil,
        extraParameters: [FormParameter] = []
    ) async -> TokenAttempt {
        let request = TokenRequest(
            endpoint: binding.tokenEndpoint,
            parameters: [FormParameter("grant_type", "client_credentials")]
                + resources.map { FormParameter("resource", $0) },
            scope: scope, extra: extraParameters, carriesGrant: false, insistsOnScope: insistsOnScope)
        let context = ClassificationContext(expectedTokenType: dpop == nil ? .bearer : .dpop)
        var attempt = await run(request, ProofSession(dpop), context)
        for (index, candidate) in binding.candidates.enumerated().dropFirst() {
            guard case .misconfigured(.client(.invalidClient)) = attempt.outcome else { break }
            let next = TokenEndpoint(sender.with(candidate), timeLeft: nil, nonces: nil, mayGoOn: nil)
            attempt = await next.run(request, ProofSession(dpop), context)
            attempt.refusedSecrets = index
        }
        return attempt
    }

    private func run(
        _ request: TokenRequest, _ session: ProofSession, _ context: ClassificationContext
    ) async -> TokenAttempt {
        var running = RunningRequest(request: request, session: session, context: context)
        if request.takesNewestNonce, let nonces { running.takeNewest(nonces) }
        if let failure = await fetchNonce(&running) { return attempt(.failure(failure), running) }
        var last: TokenAttempt?
        // Each iteration uses up one repeat: for a nonce, for the proof otherwise, or for the scope.
        while true {
            let isRepeat = last != nil
            if running.requestsSent > 0 {
                guard await mayGoOn?() ?? true else {
                    nonces?.leaveGate(&running, isRefused: false)
                    return last ?? attempt(.failure(HTTPTransportError(.notSent, .cancelled)), running)
                }
                if isRepeat, let nonces { running.takeNewest(nonces) }
            }
            prepare(&running, isRepeat: isRepeat)
            guard let form = form(running), isRepeat || !Task.isCancelled else {
                nonces?.leaveGate(&running, isRefused: false)
                let code: HTTPTransportError.Code = Task.isCancelled ? .cancelled : .unsigned
                return attempt(.failure(HTTPTransportError(.notSent, code)), running)
            }
            running.grantsSent += 1
            let result = await send(form, &running)
            let attempt = attempt(result, running)
            last = attempt
            nonces?.learn(from: result, attempt.outcome, &running)
            guard timeLeft.map({ $0() >= Self.leastForRepeat }) ?? true else { return attempt }
            switch attempt.outcome {
            case .nonceRequired, .invalidProof(.nonce):
                guard await queueForRepeat(&running) else { return attempt }
            case .invalidProof(.clock): running.context.proofWasRepeated = true
            case .scopeRefused where !running.request.insistsOnScope: running.request.scope = nil
            default: return attempt
            }
        }
    }

    /// Waits until a repeat has a chance to arrive in time with its nonce. False if it must not be made.
    private func queueForRepeat(_ running: inout RunningRequest) async -> Bool {
        running.context.noteRefusedNonce()
        guard let nonces else { return true }
        let (origin, tries) = (running.request.endpoint.origin, running.context.nonceRepeats)
        let time = (timeLeft?() ?? binding.limits.timeout) - Self.leastForRepeat
        // A call that was started runs to its end, cancelled or not.
        running.pass = await Task { await nonces.gate.enter(origin, tries: tries, within: time) }.value
        // A call without a time limit bypasses the gate.
        return running.pass != nil || timeLeft == nil
    }

    /// Where the server spends a grant before it asks for a nonce, a nonce is fetched first, by a request that carries
    /// neither a refresh token nor a code. Whatever the server answers, the nonce is in the header (RFC 9449 §8.2).
    private func fetchNonce(_ running: inout RunningRequest) async -> HTTPTransportError? {
        let request = running.request
        guard binding.style.requiresNonce, request.carriesGrant, running.session.context != nil,
            running.session.nonce(for: request.endpoint) == nil, !Task.isCancelled
        else { return nil }
        let grantType = request.parameters.filter { $0.name == "grant_type" }
        running.context.startedAt = sender.now()
        guard let form = form(running, grantType) else { return HTTPTransportError(.notSent, .unsigned) }
        switch await send(form, &running) {
        case .failure(let error): return HTTPTransportError(.notSent, error.code)
        case .reply(let reply):
            // A server that is up and sends no nonce does not want one; one that is down is asked later.
            let status = reply.response.status.code
            let isUp = status < 500 && status != 429
            return isUp || running.session.nonce(for: request.endpoint) != nil
                ? nil : HTTPTransportError(.notSent, .connect)
        }
    }

    private func send(_ form: FormRequest, _ running: inout RunningRequest) async -> EndpointReply {
        running.requestsSent += 1
        let limits = timeLeft.map { binding.limits.within($0()) } ?? binding.limits
        let (reply, repliedAt) = await sender.send(
            form, to: running.request.endpoint, &running.session, startedAt: running.context.startedAt, limits: limits)
        running.context.repliedAt = repliedAt
        return reply
    }

    private func prepare(_ running: inout RunningRequest, isRepeat: Bool) {
        let session = running.session
        running.context.startedAt = sender.now()
        running.context.repliedAt = running.context.startedAt
        running.context.proofWasSent = session.context != nil
        running.context.sentNonce = session.nonce(for: running.request.endpoint)
        running.context.sentClockOffset = session.context?.clockOffset ?? .zero
        running.context.scopeWasSent = running.request.scope != nil
        running.context.isRepeat = running.context.isRepeat || isRepeat
    }

    /// - Parameter parameters: Used instead of the request's own.
    private func form(_ running: RunningRequest, _ parameters: [FormParameter]? = nil) -> FormRequest? {
        let request = running.request
        let at = running.context.startedAt
        let scopes = request.scope.map { scope in
            [FormParameter("scope", scope.tokens.joined(separator: binding.style.scopeSeparator))]
        }
        do throws(OAuthValueError) {
            let proof = try running.session.proof(
                for: request.endpoint, method: request.asksByQuery ? .get : .post, at: at)
            return try FormRequest(
                request.endpoint, parameters ?? (request.parameters + (scopes ?? [])),
                extra: parameters == nil ? request.extra : [], binding: binding, proof: proof,
                issuedAt: running.session.corrected(at), asksByQuery: request.asksByQuery,
                sendsClient: request.sendsClient)
        } catch {
            return nil
        }
    }

    private func attempt(_ reply: EndpointReply, _ running: RunningRequest) -> TokenAttempt {
        TokenAttempt(
            outcome: classify(reply, running.context, binding.rules), nonces: running.session.learned,
            requestsSent: running.requestsSent, grantsSent: running.grantsSent,
            clockOffset: running.session.clockOffset,
            errorReply: ErrorTokenResponse(reply, binding.rules), reply: reply, context: running.context)
    }
}
