import HTTPTypes
import Synchronization

extension ServerCore {
    /// A protected resource: Bearer by RFC 6750, DPoP by RFC 9449 §7.
    func resource(_ request: IncomingRequest, _ record: inout RequestRecord) -> Reply {
        let behaviour = protectedResource.withLock { $0 }
        var reply: Reply
        do throws(OAuthError) {
            let (access, grant) = try authorized(request, behaviour, &record)
            reply = Reply.json(
                [
                    "user": .string(grant.user), "client": .string(grant.client),
                    "scope": .string(access.scope.joined(separator: " ")),
                    "aud": .array(access.resources.map(JSONValue.string)),
                    "token_type": access.keyThumbprint == nil ? "Bearer" : "DPoP",
                ] as JSONValue)
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            reply = Reply(error.status, headers: error.headers)
            if let behaviour { reply.headers[values: .wwwAuthenticate] = challenges(of: error, behaviour) }
        }
        if reply.headers[.dpopNonce] == nil, request.headers[.dpop] != nil, let nonce = resourceProofs.offerNonce() {
            reply.headers[.dpopNonce] = nonce
        }
        return reply.uncached
    }

    private func presentedToken(_ request: IncomingRequest) throws(OAuthError) -> (scheme: String, token: String) {
        let fields = request.headers[values: .authorization]
        guard let field = fields.first else {
            // RFC 6750 §3.1: a request without authentication learns no error code.
            throw Challenge.none.error("missing_token", reason: "no token")
        }
        let parts = field.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 1, parts.count == 2, !parts[1].isEmpty else {
            throw Challenge.bearer.error("invalid_request", reason: "malformed authorization", status: .badRequest)
        }
        let scheme = parts[0].lowercased()
        guard scheme == "dpop" || scheme == "bearer" else {
            throw Challenge.none.error("missing_token", reason: "unknown scheme")
        }
        return (scheme, String(parts[1]))
    }

    private func authorized(
        _ request: IncomingRequest, _ behaviour: ProtectedResourceBehaviour?, _ record: inout RequestRecord
    ) throws(OAuthError) -> (AccessRecord, Grant) {
        let (scheme, token) = try presentedToken(request)
        let challenge = scheme == "dpop" ? Challenge.dpop : .bearer
        guard let (access, grant) = liveAccess(token, behaviour) else {
            throw challenge.error("invalid_token", reason: "unknown, expired or revoked token")
        }
        guard isMeant(access.resources, for: base + request.path, behaviour) else {
            throw challenge.error("invalid_token", reason: "wrong audience")
        }
        // RFC 8705 §3: what the connection shows must be what the token is bound to.
        if let bound = access.certificateThumbprint, bound != request.certificate?.thumbprint {
            throw challenge.error("invalid_token", reason: "wrong certificate")
        }
        switch (scheme, access.keyThumbprint) {
        case ("bearer", nil):
            guard behaviour?.requiresDPoP != true else {
                throw Challenge.dpop.error("invalid_token", reason: "unbound token")
            }
        case ("dpop", .some(let key)): try checkProof(of: request, token: token, key: key, &record)
        // §7.2: a bound token must not pass as a Bearer token, nor the other way round.
        case ("bearer", _): throw Challenge.dpop.error("invalid_token", reason: "bound token as Bearer")
        default: throw Challenge.bearer.error("invalid_token", reason: "Bearer token as DPoP")
        }
        guard isStrongEnough(grant, at: clock.age) else {
            throw challenge.stepUp(configuration.resourceContextClasses, configuration.resourceMaximumAge)
        }
        if let behaviour { try checkScope(of: access, for: request.path, challenge, behaviour) }
        return (access, grant)
    }

    /// The token, if a server issued it that the resource names.
    private func liveAccess(
        _ token: String, _ behaviour: ProtectedResourceBehaviour?
    ) -> (record: AccessRecord, grant: Grant)? {
        var servers = [self]
        if let named = behaviour?.authorizationServers {
            servers = (servers + otherServers.withLock { $0 }).filter { named.contains($0.issuer) }
        }
        for server in servers {
            let now = server.clock.age
            if let found = server.ledger.withLock({ $0.liveAccess(token, at: now) }) { return found }
        }
        return nil
    }

    /// RFC 8707 §2: a token for other resources is none for this one. Where the resource has metadata, a token for a URL
    /// above the path is good, too.
    private func isMeant(_ audience: [String], for url: String, _ behaviour: ProtectedResourceBehaviour?) -> Bool {
        guard let behaviour else { return audience.isEmpty || audience.contains(url) }
        guard !audience.isEmpty else { return !behaviour.requiresResourceIndicator }
        return audience.contains { url == $0 || url.hasPrefix($0 + "/") }
    }

    /// RFC 6750 §3.1.
    private func checkScope(
        of access: AccessRecord, for path: String, _ challenge: Challenge, _ behaviour: ProtectedResourceBehaviour
    ) throws(OAuthError) {
        let needed = behaviour.scope(ofPath: path)
        if behaviour.hostility.contains(.endlessStepUp) {
            let scope = needed ?? behaviour.challengeScope ?? behaviour.scopesSupported.first ?? "read"
            throw challenge.insufficientScope(scope, reason: "endless step-up")
        }
        guard let needed else { return }
        guard needed.split(separator: " ").allSatisfy({ access.scope.contains(String($0)) }) else {
            throw challenge.insufficientScope(needed, reason: "missing scope")
        }
    }

    /// RFC 9470 §3.
    private func isStrongEnough(_ grant: Grant, at now: Moment) -> Bool {
        let classes = configuration.resourceContextClasses
        guard classes.isEmpty || grant.contextClass.map(classes.contains) == true else { return false }
        guard let age = configuration.resourceMaximumAge else { return true }
        return grant.createdAt + age >= now
    }

    /// RFC 9449 §4.3, items 8 to 12, and §7.1.
    private func checkProof(
        of request: IncomingRequest, token: String, key: String, _ record: inout RequestRecord
    ) throws(OAuthError) {
        do throws(OAuthError) {
            guard let proof = try resourceProofs.proof(of: request) else {
                throw .invalidDPoPProof("the DPoP header is missing", reason: "no proof")
            }
            record.note(proof)
            guard proof.accessTokenHash == ProofChecker.hash(of: token) else {
                throw .invalidDPoPProof("ath is not the hash of the token", reason: "wrong ath")
            }
            guard proof.thumbprint == key else {
                throw OAuthError("invalid_token", "the token is bound to another key", reason: "wrong key")
            }
            try resourceProofs.use(proof)
            guard resourceProofs.acceptsNonce(of: proof) else {
                throw .useDPoPNonce(reason: proof.nonce == nil ? "no nonce" : "stale nonce")
            }
        } catch {
            throw Challenge.dpop.error(error.code, reason: error.reason)
        }
    }
}

/// The `WWW-Authenticate` values of the resource.
private enum Challenge {
    case none, bearer, dpop

    func stepUp(_ classes: [String], _ age: Duration?) -> OAuthError {
        var error = error("insufficient_user_authentication", reason: "weak authentication")
        guard var value = error.headers[.wwwAuthenticate] else { return error }
        if !classes.isEmpty { value += ", acr_values=\"\(classes.joined(separator: " "))\"" }
        if let age { value += ", max_age=\"\(age.components.seconds)\"" }
        error.headers[.wwwAuthenticate] = value
        return error
    }

    func insufficientScope(_ scope: String, reason: String) -> OAuthError {
        var error = error("insufficient_scope", reason: reason, status: .forbidden)
        guard let value = error.headers[.wwwAuthenticate] else { return error }
        error.headers[.wwwAuthenticate] = value + ", scope=\"\(scope)\""
        return error
    }

    func error(
        _ code: String, reason: String, status: HTTPResponse.Status = .unauthorized
    ) -> OAuthError {
        var error = OAuthError(code, "", reason: reason, status: status)
        let algorithms = ProofKey.algorithms.joined(separator: " ")
        let bearer = "Bearer realm=\"dev\""
        let dpop = "DPoP realm=\"dev\", algs=\"\(algorithms)\""
        switch self {
        case .none: error.headers = HTTPFields([bearer, dpop].map { HTTPField(name: .wwwAuthenticate, value: $0) })
        case .bearer: error.headers[.wwwAuthenticate] = bearer + ", error=\"\(code)\""
        case .dpop: error.headers[.wwwAuthenticate] = dpop + ", error=\"\(code)\""
        }
        return error
    }
}
