import OAuthClient
import VaultCrypto
import VaultStorage

extension UserManager {
    /// How often in a row a user is asked to consent to the same scope, within this time. An API that still wants it then would
    /// never stop asking.
    private static let mostConsents: Int64 = 2
    private static let timeOfConsents = Duration.seconds(3_600)

    /// The scope to ask for: with an addition, the union of all that was granted, that the last log-in asked for, that
    /// others are asking the user for, and that is added. So no addition is lost to another one.
    ///
    /// - Throws: ``VaultError/Code/resourceRefused`` if the user has consented to all of it, twice.
    func scope(
        of request: LogInRequest, into login: StoredLogin, _ pending: [AuthorizationRequestRecord]
    ) throws -> Scope? {
        guard let adding = request.adding else { return request.scope }
        guard request.scope == nil else {
            throw VaultError(
                .invalidArgument, "a log-in asks for a scope, or for an addition to the one that was granted")
        }
        let session = login.session
        let asked = Scope(stored: session.requestedScope)
        if let asked, asked.contains(adding), session.repeatedConsents >= Self.mostConsents,
            vault.now.since(session.grantedAt ?? session.createdAt) < Self.timeOfConsents
        {
            throw VaultError(
                .resourceRefused, "the user has consented to this scope twice, and it is asked for again",
                hint: "the API asks for a scope that its server does not give, or the user may not have")
        }
        var tokens = (Scope(stored: session.grantedScope)?.tokens ?? []) + (asked?.tokens ?? [])
        for other in pending { tokens += Scope(stored: other.scope)?.tokens ?? [] }
        let all = tokens + adding.tokens
        return try VaultError.translatingValues { try Scope(tokens: all) }
    }

    /// The log-ins that have been begun, by whichever process, to ask this login's user for more.
    func pendingStepUps(into login: LoginHandle) async throws -> [AuthorizationRequestRecord] {
        try await vault.pendingLogIns { $0.target?.login == login && $0.stepUp != nil }
    }

    /// A log-in that asks for the same, or for more, and that the user can still complete: its URL is given out again.
    func pendingStepUp(like logIn: CheckedLogIn) throws -> AuthorizationRequest? {
        guard logIn.request.isPlainStepUp, let target = logIn.target, let wanted = logIn.scope else { return nil }
        let redirectURI = logIn.request.redirectURI?.rawValue ?? logIn.provider.record.redirectURI
        let soon = vault.now.advanced(by: .seconds(60))
        let pending = logIn.pending.last { pending in
            pending.provider == logIn.provider.handle && pending.target == target && pending.redirectURI == redirectURI
                && pending.context == logIn.context && pending.variables == logIn.values
                && pending.resources == logIn.resources
                && Scope(stored: pending.scope)?.contains(wanted) == true
                && pending.stepUp?.url.isEmpty == false
                && min(pending.expiresAt, pending.stepUp?.urlExpiresAt ?? soon) > soon
        }
        guard let pending, let stepUp = pending.stepUp, let url = stepUp.url.string(),
            let state = pending.state.string(), let binding = stepUp.binding.string()
        else { return nil }
        return AuthorizationRequest(
            url: url, state: state, binding: try VaultError.translatingValues { try BrowserBinding(binding) },
            urlExpiresAt: stepUp.urlExpiresAt.date, expiresAt: pending.expiresAt.date, redirectURI: pending.redirectURI,
            issuer: logIn.provider.record.requiresIssuerInCallback ? logIn.provider.record.issuer : nil)
    }
}

extension Vault {
    private static let pageOfRequests = 256

    /// The log-ins that can still be completed.
    func pendingLogIns(
        where isWanted: (AuthorizationRequestRecord) -> Bool
    ) async throws -> [AuthorizationRequestRecord] {
        var (found, last): ([AuthorizationRequestRecord], Int64?) = ([], nil)
        repeat {
            let after = last
            let page = try await VaultError.translating {
                try await store.pendingLogIns(after: after, limit: Self.pageOfRequests)
            }
            found += page.requests.filter { $0.expiresAt > now && isWanted($0) }
            last = page.requests.count == Self.pageOfRequests ? page.last : nil
        } while last != nil
        return found
    }

    package func pendingLogIns(of userId: String) async throws -> Int {
        try await pendingLogIns { $0.userId.utf8.elementsEqual(userId.utf8) }.count
    }
}

extension LogInRequest {
    /// Whether it adds scope, and asks nothing else of the user: only then is it like another one.
    var isPlainStepUp: Bool {
        adding != nil && loginHint == nil && dpop == nil && parameters.prompt == nil && parameters.maximumAge == nil
            && parameters.contextClasses.isEmpty && parameters.authorizationDetails == nil && parameters.extra.isEmpty
    }
}

extension CheckedLogIn {
    /// The resources that the request names (RFC 8707).
    var resources: [String] { resource.map { [$0] } ?? request.parameters.resources }
}
