import OAuthClient
import VaultStorage

extension UserManager {
    /// Begins a log-in that the user approves in a browser on another device (RFC 8628): for command lines and machines
    /// without a browser.
    ///
    /// ```swift
    /// let device = try await users.beginDeviceLogIn(LogInRequest(userId: "alice", provider: "acme"))
    /// print("Open \(device.verificationURI) and enter \(device.userCode)")
    /// let login = try await users.completeDeviceLogIn(device).login
    /// ```
    ///
    /// The user who approves becomes this user's login. Show the code to no one else: users who are tricked into
    /// entering a stranger's code give their account away (RFC 8628 §5.4).
    ///
    /// - Parameters:
    ///   - request: Its user or login, and its settings. Its redirect URI and login hint have no use here. The provider needs a
    ///     device authorization endpoint.
    ///   - usesPKCE: Whether a code challenge is sent (RFC 7636). RFC 8628 has none; some providers ask for it.
    /// - Throws: ``VaultError``, such as ``VaultError/Code/userDisabled``; ``VaultError/Code/providerMisconfigured`` for a
    ///   provider without such an endpoint.
    public func beginDeviceLogIn(_ request: LogInRequest, usesPKCE: Bool = false) async throws -> DeviceLogIn {
        let logIn = try await check(request)
        let (provider, parameters) = (logIn.provider, request.parameters)
        let key = try provider.record.dpop.wantsKey(logIn.dpop) ? DPoPKey.generate() : nil
        let verifier = usesPKCE ? CodeVerifier.random() : nil
        let scope = try VaultError.translatingValues {
            try logIn.scope ?? provider.record.defaultScope.map { try Scope($0) }
        }
        let endpoint = try deviceEndpoint(of: provider, logIn.values)
        let profile = try VaultError.translatingValues { try provider.record.profile }
        let (begunAt, uptime) = (vault.now, vault.timeSource.uptime())
        let attempt = await endpoint.request(
            Self.form(scope, verifier, parameters, separator: profile.request.scopeSeparator))
        guard case .accepted(let codes) = attempt.outcome else { throw VaultError(device: attempt.outcome) }
        // Later requests must use the accepted secret.
        if attempt.refusedSecrets > 0 { _ = await self.context.promote(attempt.refusedSecrets, of: provider) }
        var grant = GrantRequest(
            userId: logIn.userId, provider: provider, code: nil, verifier: verifier, redirectURI: nil,
            scope: scope?.description, key: key, label: logIn.label)
        grant.user = logIn.user
        grant.deviceCode = codes.deviceCode
        grant.resources = parameters.resources
        grant.maximumAge = parameters.maximumAge
        grant.target = logIn.target
        grant.attributes = logIn.values
        return DeviceLogIn(
            userCode: codes.userCode, verificationURI: codes.verificationURI.rawValue,
            verificationURIComplete: codes.verificationURIComplete?.rawValue,
            expiresAt: begunAt.advanced(by: codes.expiresIn).date, interval: codes.interval, grant: grant,
            context: logIn.context, endsAt: uptime + codes.expiresIn)
    }

    /// Waits until the user has approved, and stores the login.
    ///
    /// The provider is asked no more often than it wants; after a lost connection half as often as before. Cancel the
    /// task to give up: what has not been approved then expires at the provider.
    ///
    /// - Throws: ``VaultError``: ``VaultError/Code/logInRefused`` if the user said no, ``VaultError/Code/logInExpired``
    ///   if they took too long; or `CancellationError`.
    public func completeDeviceLogIn(_ logIn: DeviceLogIn) async throws -> CompletedLogIn {
        guard names.has(logIn.grant.userId) else {
            throw VaultError(
                .unknownAuthorizationRequest, "there is no such log-in in this tenant",
                hint: "complete it by the manager that began it")
        }
        var pace = DevicePace(interval: logIn.interval)
        var nonces = logIn.grant.nonces
        while true {
            let left = logIn.endsAt - vault.timeSource.uptime()
            if left > .zero { try await vault.timeSource.sleep(for: min(pace.interval, left)) }
            try Task.checkCancellation()
            try vault.requireOpen()
            guard vault.timeSource.uptime() < logIn.endsAt else { throw VaultError.deviceLogInExpired }
            switch try await poll(logIn, &nonces) {
            case .completed(let login, let claims):
                return CompletedLogIn(
                    login, names, context: logIn.context, claims: claims,
                    try? logIn.grant.provider.record.profile)
            case .pending: continue
            case .slowDown: pace.slowDown()
            case .noAnswer(let retryAfter): pace.backOff(retryAfter: retryAfter)
            }
        }
    }

    private enum DeviceAnswer {
        case completed(Login, IDTokenClaims?)
        case pending
        case slowDown
        case noAnswer(retryAfter: Duration?)
    }

    /// Polls once. Tokens are stored before anything else happens, cancelled or not.
    private func poll(_ logIn: DeviceLogIn, _ nonces: inout [String: String]) async throws -> DeviceAnswer {
        let user = try await refuseDisabled(logIn.grant.userId)
        if let begunFor = logIn.grant.user, begunFor != user {
            throw VaultError(StoreError.notFound(.authorizationRequest))
        }
        if let target = logIn.grant.target { try await requireReplaceable(target) }
        guard let code = logIn.grant.deviceCode, vault.flightStarted() else {
            throw VaultError(.closed, now: vault.now)
        }
        defer { vault.flightEnded() }
        await vault.sessions.logInBegins(of: logIn.grant.userId)
        defer { vault.sessions.logInEnds(of: logIn.grant.userId) }
        var request = logIn.grant
        request.nonces = nonces
        let binding = try VaultError.translatingValues {
            try ServerBinding(request.provider.record, for: request.attributes)
        }
        let keys = await idTokenKeys(for: request)
        let recorder = context.channel.recorder(of: .fetch)
        defer { recorder?.announce() }
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? context.transport, now: vault.wallClock,
            nonces: context.serverNonces)
        var exchange = DeviceCodeRequest(deviceCode: code, codeVerifier: request.verifier, dpop: request.dpop)
        exchange.resources = request.resources
        let attempt = await endpoint.redeemDeviceCode(
            exchange, context: ClassificationContext(expectedTokenType: request.key == nil ? .bearer : .dpop))
        nonces.merge(attempt.nonces.mapValues(\.rawValue)) { $1 }
        if case .success(let issued) = attempt.outcome {
            let (login, claims) = try await finish(issued, attempt, request, keys)
            return .completed(login, claims)
        }
        switch attempt.errorReply?.error {
        case .authorizationPending?: return .pending
        case .slowDown?: return .slowDown
        case .expiredToken?: throw VaultError.deviceLogInExpired
        case .accessDenied?:
            throw VaultError(
                .logInRefused, "the user refused the log-in", hint: "begin the log-in again",
                answer: attempt.answer(hiding: request.secrets))
        default: break
        }
        switch attempt.outcome {
        case .inDoubt, .nonceRequired: return .noAnswer(retryAfter: nil)
        case .transient(let failure): return try noAnswer(failure, attempt, request)
        default: throw await failure(attempt, request)
        }
    }

    /// A refusal that no RFC defines is final; a server that is down is polled again.
    private func noAnswer(
        _ failure: TransientFailure, _ attempt: TokenAttempt, _ request: GrantRequest
    ) throws -> DeviceAnswer {
        if case .unclassifiedRejection = failure.cause {
            throw VaultError(logIn: attempt.outcome, attempt.answer(hiding: request.secrets))
        }
        return .noAnswer(retryAfter: failure.retryAfter)
    }

    private func deviceEndpoint(of provider: StoredProvider, _ values: [String: String]) throws
        -> DeviceAuthorizationEndpoint
    {
        guard let text = provider.record.deviceAuthorizationEndpoint else {
            throw VaultError(
                .providerMisconfigured, "the provider has no device authorization endpoint in this vault",
                hint: (provider.record.issuer == nil
                    ? "" : "ask the provider again: vaultctl provider update NAME --rediscover; or ")
                    + "name the endpoint: vaultctl provider update NAME --device-authorization-endpoint URL; without one, "
                    + "log in by a browser: vaultctl login open")
        }
        return try VaultError.translatingValues {
            DeviceAuthorizationEndpoint(
                endpoint: try EndpointURL(stored: text, for: values),
                binding: try ServerBinding(provider.record, for: values),
                transport: context.transport, now: vault.wallClock)
        }
    }

    private static func form(
        _ scope: Scope?, _ verifier: CodeVerifier?, _ parameters: LogInParameters, separator: String
    ) -> [FormParameter] {
        var form: [FormParameter] = []
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { form.append(FormParameter(name, value)) }
        }
        add("scope", scope?.tokens.joined(separator: separator))
        add("code_challenge", verifier?.challenge.rawValue)
        add("code_challenge_method", verifier.map { _ in "S256" })
        add("prompt", parameters.prompt)
        add("max_age", parameters.maximumAge.map { String($0.components.seconds) })
        add("acr_values", parameters.contextClasses.joined(separator: " "))
        add("authorization_details", parameters.authorizationDetails)
        for resource in parameters.resources { add("resource", resource) }
        return form + parameters.extra
    }
}

extension VaultError {
    fileprivate static let deviceLogInExpired = VaultError(
        .logInExpired, "the log-in was not approved in time", hint: "begin the log-in again")

    fileprivate init(device outcome: DeviceAuthorizationOutcome) {
        switch outcome {
        case .refused(let code, let answer)
        where [.invalidClient, .unauthorizedClient, .unsupportedGrantType].contains(code):
            self.init(
                .providerMisconfigured, "the provider gives this client no device code",
                hint: "check the client id and its secret, and whether the client may log in on other devices",
                answer: answer)
        case .refused(_, let answer):
            self.init(
                .logInRefused, "the provider refused this log-in's request",
                hint: "check the scope and the parameters of this log-in", answer: answer)
        case .failed(let error?, _, _) where error.phase == .notSent: self.init(unsent: error.code)
        case .failed(let error, let answer, let retryAfter):
            // A server that answers, and neither fails nor refuses, answers in the same way again.
            let isElsewhere = answer?.status.map { $0 < 400 } ?? false
            self.init(
                error == nil ? .tryLater : .network, "the provider gave no device code",
                hint: isElsewhere ? "check the provider's device authorization endpoint" : "begin the log-in again",
                retryAfter: retryAfter, answer: answer)
        case .accepted:
            self.init(.protocolViolation, "the provider's reply cannot be used")
        }
    }
}
