import HTTPTypes
import Synchronization

extension ServerCore {
    /// RFC 6749 §3.2 with RFC 7636 and RFC 9449 §5.
    func token(_ request: IncomingRequest, _ record: inout RequestRecord) async -> Reply {
        var reply: Reply
        do throws(OAuthError) {
            reply = try await issue(request, &record)
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            reply = .error(error)
        }
        return offeringNonce(request) { reply }
    }

    /// RFC 9449 §8.2: any reply may bring the next nonce.
    func offeringNonce(_ request: IncomingRequest, _ make: () -> Reply) -> Reply {
        var reply = make()
        if reply.headers[.dpopNonce] == nil, request.headers[.dpop] != nil, let nonce = proofs.offerNonce() {
            reply.headers[.dpopNonce] = nonce
        }
        return reply
    }

    private func issue(
        _ request: IncomingRequest, _ record: inout RequestRecord
    ) async throws(OAuthError) -> Reply {
        try request.refuseQuery()
        let form = try request.form()
        let grantType = try form.required("grant_type")
        let client = try clients.authenticate(request, form: form)
        record.client = client.id
        let behaviour = ledger.withLock { $0.behaviours.behaviour(of: client.id) }
        await wait(behaviour.delay)
        let proof = try provenKey(request, client: client, isNeeded: needsProof(client), &record)
        let certificate = try boundCertificate(request, client: client)
        var tokens: IssuedTokens
        switch grantType {
        case "authorization_code": tokens = try redeemCode(form, client: client, key: proof.thumbprint)
        case "refresh_token": tokens = try redeemRefreshToken(form, client: client, key: proof.thumbprint)
        case "client_credentials": tokens = try issueOwnToken(form, client: client, key: proof.thumbprint)
        case Self.deviceGrant: tokens = try redeemDeviceCode(form, client: client, key: proof.thumbprint)
        case Self.assertionGrant: tokens = try redeemAssertion(form, client: client, key: proof.thumbprint)
        case Self.exchangeGrant: tokens = try exchangeToken(form, client: client, key: proof.thumbprint)
        default:
            throw OAuthError("unsupported_grant_type", "this grant type is not served", reason: "grant type")
        }
        if let certificate {
            tokens.access.certificateThumbprint = certificate.thumbprint
            let bound = tokens
            ledger.withLock { $0.accessTokens[bound.accessToken] = bound.access }
        }
        record.user = tokens.grant.user
        record.grant = tokens.grant.id
        record.note("issued_access_token", tokens.accessToken)
        record.note("issued_refresh_token", tokens.refreshToken)
        await wait(behaviour.replyDelay)
        guard !proof.lacksNonce else { throw .useDPoPNonce(reason: "nonce checked last") }
        return try await reply(
            with: tokens, lifetime: behaviour.accessTokenLifetime, isExchange: grantType == Self.exchangeGrant)
    }

    /// A token that is bound to nothing is good for a thief (FAPI 2.0 §5.3.2.1).
    private func needsProof(_ client: RegisteredClient) -> Bool {
        client.requiresDPoP || (configuration.strictness == .fapi2 && !client.bindsTokensToCertificate)
    }

    /// What the request's tokens are bound to (RFC 8705 §3).
    private func boundCertificate(
        _ request: IncomingRequest, client: RegisteredClient
    ) throws(OAuthError) -> ShownCertificate? {
        guard client.bindsTokensToCertificate else { return nil }
        guard let certificate = request.certificate else {
            throw .invalidRequest("this client must show a certificate", reason: "no certificate")
        }
        return certificate
    }

    /// A server that has stopped meanwhile has no one to answer.
    private func wait(_ duration: Duration) async {
        if duration > .zero { try? await Task.sleep(for: duration) }
    }

    /// The thumbprint of the request's proof, if it has one.
    func provenKey(
        _ request: IncomingRequest, client: RegisteredClient, isNeeded: Bool, _ record: inout RequestRecord
    ) throws(OAuthError) -> (thumbprint: String?, lacksNonce: Bool) {
        guard let proof = try proofs.proof(of: request) else {
            guard !isNeeded else {
                throw .invalidDPoPProof("this client must send a DPoP proof", reason: "no proof")
            }
            return (nil, false)
        }
        record.note(proof)
        try proofs.use(proof)
        let check = ledger.withLock { $0.behaviours.behaviour(of: client.id).nonceCheck }
        let lacksNonce = check != .never && !proofs.acceptsNonce(of: proof)
        if lacksNonce, check == .first {
            throw .useDPoPNonce(reason: proof.nonce == nil ? "no nonce" : "stale nonce")
        }
        return (proof.thumbprint, lacksNonce)
    }

    private func redeemCode(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        let redemption = CodeRedemption(
            code: try form.required("code"), client: client, redirectURI: try form.required("redirect_uri"),
            verifier: form["code_verifier"], keyThumbprint: key, resources: try resources(of: form))
        return try withLedger { (ledger, now) throws(OAuthError) in try ledger.redeem(redemption, at: now) }
    }

    private func redeemRefreshToken(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        let redemption = RefreshRedemption(
            token: try form.required("refresh_token"), client: client,
            scope: try form["scope"].map { text throws(OAuthError) in try ScopeList.parse(text) },
            resources: try resources(of: form), keyThumbprint: key)
        return try withLedger { (ledger, now) throws(OAuthError) in try ledger.redeem(redemption, at: now) }
    }

    private func redeemDeviceCode(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        let redemption = DeviceRedemption(
            code: try form.required("device_code"), client: client, verifier: form["code_verifier"],
            keyThumbprint: key, resources: try resources(of: form))
        // A refusal changes the record, too.
        let now = clock.age
        let result = ledger.withLock { ledger -> Result<IssuedTokens, OAuthError> in
            do throws(OAuthError) {
                return .success(try ledger.redeem(redemption, at: now))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// RFC 6749 §4.4: for clients that authenticate, in their own name.
    private func issueOwnToken(
        _ form: FormParameters, client: RegisteredClient, key: String?
    ) throws(OAuthError) -> IssuedTokens {
        guard !client.isPublic else {
            throw OAuthError("unauthorized_client", "a public client has no credentials", reason: "public client")
        }
        let scope = try form["scope"].map { text throws(OAuthError) in try ScopeList.parse(text) } ?? ["read"]
        let personal = ["openid", "profile", "offline_access"]
        let known = knownScopes
        guard scope.allSatisfy({ known.contains($0) && !personal.contains($0) }) else {
            throw .invalidScope("a scope is unknown, or is about a user", reason: "unknown scope")
        }
        let given = granted(scope)
        let resources = try resources(of: form)
        return try withLedger { (ledger, now) throws(OAuthError) in
            ledger.issueOwnToken(of: client, scope: given, resources: resources, keyThumbprint: key, at: now)
        }
    }

    /// RFC 6749 §5.1.
    private func reply(
        with tokens: IssuedTokens, lifetime: Duration, isExchange: Bool
    ) async throws(OAuthError) -> Reply {
        var members: [String: JSONValue] = [
            "access_token": .string(tokens.accessToken),
            "token_type": tokens.access.keyThumbprint == nil ? "Bearer" : "DPoP",
            "scope": .string(tokens.access.scope.joined(separator: " ")),
        ]
        if configuration.announcesExpiry {
            members["expires_in"] = .seconds(lifetime)
        }
        if let details = tokens.grant.details.flatMap({ JSONValue.parse($0.utf8) }) {
            members["authorization_details"] = details
        }
        if isExchange { members["issued_token_type"] = .string(Self.accessTokenType) }
        if let refreshToken = tokens.refreshToken { members["refresh_token"] = .string(refreshToken) }
        if tokens.access.scope.contains("openid") {
            members["id_token"] = .string(try await idToken(for: tokens.grant))
        }
        return Reply.json(JSONValue.object(members)).uncached
    }

    private func idToken(for grant: Grant) async throws(OAuthError) -> String {
        let now = clock.wall
        let claims = IDTokenClaims(
            iss: issuer, sub: grant.user, aud: grant.client, exp: now.seconds + 600, iat: now.seconds,
            nonce: grant.openIDNonce, acr: grant.contextClass, authTime: grant.createdAt.seconds)
        do {
            return try await signer.sign(claims)
        } catch {
            throw OAuthError(
                "server_error", "the id token cannot be signed", reason: "signing", status: .internalServerError)
        }
    }

    func withLedger<Result: Sendable>(
        _ body: (inout Ledger, Moment) throws(OAuthError) -> Result
    ) throws(OAuthError) -> Result {
        let now = clock.age
        return try ledger.withLock { ledger throws(OAuthError) in try body(&ledger, now) }
    }
}
