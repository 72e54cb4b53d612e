import HTTPTypes

extension ServerCore {
    /// Every profile wants PKCE of confidential clients, too.
    func checkProfile(_ authorization: AuthorizationRequest) throws(OAuthError) {
        guard configuration.strictness == .none || authorization.challenge != nil else {
            throw .invalidRequest("code_challenge is missing", reason: "no challenge")
        }
    }

    /// RFC 9126 §2.
    func push(_ request: IncomingRequest, _ record: inout RequestRecord) -> Reply {
        offeringNonce(request) {
            do throws(OAuthError) {
                return try accept(request, &record)
            } catch {
                record.outcome = error.code
                record.reason = error.reason
                return .error(error)
            }
        }
    }

    private func accept(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        try request.refuseQuery()
        let form = try request.form()
        let client = try clients.authenticate(request, form: form)
        record.client = client.id
        // §2.1: a parameter of every authorization request, even where the client authenticates otherwise.
        guard try form.required("client_id") == client.id else {
            throw .invalidRequest("client_id differs from the authenticated client", reason: "two clients")
        }
        guard form["request_uri"] == nil else {
            throw .invalidRequest("request_uri cannot be pushed", reason: "pushed request_uri")
        }
        let key = try provenKey(request, client: client, isNeeded: false, &record)
        guard !key.lacksNonce else { throw .useDPoPNonce(reason: "no good nonce") }
        let redirectURI = try form.required("redirect_uri")
        guard RedirectURI.isRegistered(redirectURI, of: client) else {
            throw .invalidRequest("the redirect URI is not registered", reason: "wrong redirect_uri")
        }
        var authorization = try AuthorizationRequest(
            form, client: client, redirectURI: redirectURI, knownScopes: knownScopes,
            resources: try resources(of: form))
        try checkProfile(authorization)
        if let thumbprint = key.thumbprint {
            // RFC 9449 §10.1
            guard authorization.keyThumbprint == nil || authorization.keyThumbprint == thumbprint else {
                throw .invalidDPoPProof("dpop_jkt and the DPoP header name different keys", reason: "two keys")
            }
            authorization.keyThumbprint = thumbprint
        }
        record.user = authorization.loginHint
        let now = clock.age
        let lifetime = configuration.pushedRequestLifetime
        let uri = pushed.add(authorization, until: now + lifetime, at: now)
        record.note("issued_request_uri", uri)
        return Reply.json(
            ["request_uri": .string(uri), "expires_in": .integer(max(1, lifetime.components.seconds))] as JSONValue,
            status: .created
        ).uncached
    }
}
