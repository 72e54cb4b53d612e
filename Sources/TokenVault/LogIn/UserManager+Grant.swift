import Logging
import OAuthClient
import VaultCrypto
import VaultStorage

/// The data for turning an authorization code into a login.
struct GrantRequest: Sendable {
    let userId: String
    /// The user when the log-in began, who may be erased before it is completed. Nil: they did not exist.
    var user: UserHandle?
    let provider: StoredProvider
    /// Nil for a log-in on another device.
    let code: AuthorizationCode?
    let verifier: CodeVerifier?
    let redirectURI: String?
    let scope: String?
    let key: DPoPKey?
    /// The latest DPoP nonce of each origin, if the request was pushed.
    var nonces: [String: String] = [:]
    let label: String?
    /// The nonce that the id token must repeat.
    var nonce: IDTokenNonce?
    /// How long ago the user may have authenticated at most.
    var maximumAge: Duration?
    /// The APIs that the access token is for (RFC 8707).
    var resources: [String] = []
    /// The protected resource that the login will be for.
    var resource: String?
    /// Whether it asks for more than the login had.
    var isStepUp = false
    /// The login whose chain the new one replaces.
    var target: ReplacedLogin?
    /// Values of the profile's variables, and parameters of the callback: they are kept with the login.
    var attributes: [String: String] = [:]

    var deviceCode: DeviceCode?

    /// Values that were sent, and must not be shown if a reply echoes them.
    var secrets: [String] {
        [code?.reveal(), deviceCode?.reveal(), verifier?.reveal()].compactMap(\.self)
            + provider.record.clientSecrets.compactMap { $0.string() }
    }

    var dpop: DPoPContext? {
        key.map { DPoPContext(key: $0, nonces: nonces.compactMapValues { DPoPNonce($0) }) }
    }
}

/// The code was certainly not used.
struct GrantNotSent: Error {
    let reason: VaultError
    var user: UserHandle?
}

extension UserManager {
    /// Uses the code, once, and stores its tokens before anything else happens.
    func obtain(_ request: GrantRequest) async throws -> (login: Login, claims: IDTokenClaims?) {
        var request = request
        request.user = try await refuseDisabled(request.userId)
        if let target = request.target { try await requireReplaceable(target) }
        guard vault.flightStarted() else { throw VaultError(.closed, now: vault.now) }
        defer { vault.flightEnded() }
        await vault.sessions.logInBegins(of: request.userId)
        defer { vault.sessions.logInEnds(of: request.userId) }
        guard let code = request.code else { throw VaultError(.invalidArgument, "there is no authorization code") }
        let binding = try VaultError.translatingValues {
            try ServerBinding(request.provider.record, for: request.attributes)
        }
        let keys = await idTokenKeys(for: request)
        let recorder = context.channel.recorder(of: .fetch)
        // Runs when everything else is done: the listener never comes before the store.
        defer { recorder?.announce() }
        let endpoint = TokenEndpoint(
            binding: binding, transport: recorder ?? context.transport, now: vault.wallClock,
            nonces: context.serverNonces
        )
        var exchange = CodeRequest(
            code: code, codeVerifier: request.usesPKCE ? request.verifier : nil,
            redirectURI: request.redirectURI, dpop: request.dpop)
        exchange.resources = request.resources
        let attempt = await endpoint.exchangeCode(
            exchange, context: ClassificationContext(expectedTokenType: request.key == nil ? .bearer : .dpop))
        guard case .success(let issued) = attempt.outcome else { throw await failure(attempt, request) }
        return try await finish(issued, attempt, request, keys)
    }

    /// Checks the tokens of a grant, and stores them.
    func finish(
        _ issued: IssuedTokens, _ attempt: TokenAttempt, _ request: GrantRequest, _ keys: JSONWebKeySet?
    ) async throws -> (login: Login, claims: IDTokenClaims?) {
        let claims: IDTokenClaims?
        do {
            claims = try await self.claims(issued, attempt, request, keys)
        } catch let error as IDTokenError {
            // These tokens are not for this log-in.
            await discardForRevocation(issued.refreshToken, issued.accessToken, request)
            throw VaultError(
                .protocolViolation, error.description,
                hint: Self.hint(for: error, attempt.clockOffset))
        }
        return (try await keep(issued, attempt, request), claims)
    }

    private static func hint(for error: IDTokenError, _ clockOffset: Duration?) -> String {
        guard error.code != .missing else {
            return "begin the log-in again; a provider that never sends one needs a profile with idTokenMayBeMissing"
        }
        guard error.code == .issuedInFuture || error.code == .expired else {
            return "begin the log-in again; if it fails in the same way, check the provider's issuer and client id"
        }
        guard let clockOffset, clockOffset != .zero else {
            return "compare this machine's clock with the provider's"
        }
        let seconds = abs(clockOffset.components.seconds)
        return "the provider's clock is \(seconds) s \(clockOffset > .zero ? "ahead of" : "behind") this machine's: "
            + "set the one that is wrong"
    }

    /// The reason why there is no login.
    func failure(_ attempt: TokenAttempt, _ request: GrantRequest) async -> any Error {
        let answer = attempt.answer(hiding: request.secrets)
        switch attempt.outcome {
        case .partial(let partial): await discardForRevocation(partial.refreshToken, nil, request)
        case .transient(let failure):
            if case .notSent(let code) = failure.cause {
                return GrantNotSent(reason: VaultError(unsent: code), user: request.user)
            }
        case .misconfigured: _ = await context.findWorkingSecret(of: request.provider, within: ReplayPolicy().budget)
        default: break
        }
        if let answer {
            vault.logger.info("a log-in was refused", metadata: ["vault-provider-answer": "\(answer)"])
        }
        return VaultError(logIn: attempt.outcome, answer)
    }

    private func keep(_ issued: IssuedTokens, _ attempt: TokenAttempt, _ request: GrantRequest) async throws -> Login {
        let obtainedAt = Timestamp(attempt.startedAt)
        let expiresAt = issued.expiresIn.map { obtainedAt.advanced(by: $0) }
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: issued.accessToken.reveal()),
            tokenType: issued.tokenType.storedForm, scope: issued.scope?.description ?? request.scope,
            createdAt: vault.now, obtainedAt: obtainedAt, expiresAt: expiresAt)
        session.label = request.label
        session.grantedScope = session.scope
        session.resource = request.resource
        if request.resource != nil || request.isStepUp { session.requestedScope = request.scope }
        session.repeatedConsents = request.isStepUp ? 1 : 0
        session.subject = issued.identity?.subject
        session.isExpiryAssumed = issued.isLifetimeAssumed
        session.attributes = request.attributes.merging(issued.attributes) { $1 }
        // Without a refresh token no id token is kept: its subject is in the session, and its claims go to the app.
        let refresh = issued.refreshToken.map { token in
            RefreshRecord(
                refreshToken: SecretBytes(utf8: token.reveal()),
                refreshExpiresAt: issued.refreshExpiresIn.map { obtainedAt.advanced(by: $0) },
                idToken: issued.idToken.map { SecretBytes(utf8: $0.reveal()) })
        }
        var draft = LoginDraft(
            userId: request.userId, provider: request.provider.handle, session: session, refresh: refresh,
            key: request.key.map { KeyRecord($0, nonces: attempt.nonces) })
        draft.user = request.user
        draft.auditEvents = [AuditEvent(.loginCreated, facts: ReplyFacts(logIn: draft))]
        do {
            let login =
                if let target = request.target { try await replace(target, with: draft, request) } else {
                    try await insert(draft)
                }
            if issued.expiresIn == nil || issued.isLifetimeAssumed { await context.learnExpiry(of: login.id.handle) }
            await keep(issued.others, of: login, attempt, request)
            return login
        } catch {
            if let token = issued.refreshToken { await discardForRevocation(token, nil, request) }
            throw error
        }
    }

    func insert(_ draft: LoginDraft) async throws -> Login {
        await vault.describe(try await storing { try await vault.insert(draft) }, isNew: true)
    }

    /// Tries several times: the code is used up, so its tokens exist only here.
    func storing<R>(_ write: () async throws -> R) async throws -> R {
        for failures in 1...6 {
            do {
                return try await write()
            } catch let error as StoreError where error.mayPass && failures < 6 {
                await vault.pause(Backoff.storing.pause(afterFailures: failures, random: context.random()))
            } catch {
                throw VaultError.publicError(error)
            }
        }
        throw VaultError(.storageFailed, "the login could not be stored")
    }

    /// - Returns: The user; nil: the vault does not have them yet.
    @discardableResult
    func refuseDisabled(_ userId: String) async throws -> UserHandle? {
        do throws(StoreError) {
            let user = try await vault.store.user(userId)
            guard user.status == .active else { throw StoreError(.userDisabled, "the user is disabled") }
            return user.handle
        } catch {
            guard error.code == .notFound(.user) else { throw VaultError(error) }
            return nil
        }
    }

    /// An unusable grant is not left behind: it is revoked through the outbox, or at once if even that cannot be
    /// written.
    private func discardForRevocation(_ refresh: RefreshToken?, _ access: AccessToken?, _ request: GrantRequest) async {
        let style = RevocationStyle(request.provider.record)
        guard style.hasEndpoint, request.target == nil || !style.endsOtherChains else { return }
        let record = OutboxRecord(
            provider: request.provider.handle, login: nil, user: nil,
            refreshToken: refresh.map { SecretBytes(utf8: $0.reveal()) },
            accessToken: access.map { SecretBytes(utf8: $0.reveal()) },
            dpopPrivateKey: request.key.map { SecretBytes(copying: $0.revealRawRepresentation()) },
            attributes: request.provider.record.variableValues(in: request.attributes), createdAt: vault.now)
        do {
            try await vault.store.addOutbox([record])
            _ = await revoker.revoke(queued: [record])
        } catch {
            _ = await revoker.ask(record, request.provider.record)
        }
    }
}

extension StoreError {
    /// Whether the same write may succeed a little later.
    var mayPass: Bool {
        switch code {
        case .busy, .full, .io, .outOfMemory: true
        default: false
        }
    }
}
