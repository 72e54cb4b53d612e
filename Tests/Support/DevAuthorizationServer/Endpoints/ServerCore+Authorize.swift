import HTTPTypes
import Synchronization

extension ServerCore {
    /// RFC 6749 §4.1.1. Until client and redirect URI are known to be good, errors stay on a page of ours (§4.1.2.1).
    func authorize(_ request: IncomingRequest, _ record: inout RequestRecord) -> Reply {
        let client: RegisteredClient
        let redirectURI: String
        let form: FormParameters
        do throws(OAuthError) {
            form = try request.method == .post ? request.form() : FormParameters(parsing: request.query ?? "")
            guard let known = clients.client(try form.required("client_id")) else {
                throw .invalidRequest("This application is not registered here.", reason: "unknown client")
            }
            client = known
            if let uri = form["request_uri"], uri.hasPrefix(PushedRequests.prefix) {
                return try authorize(try pushed.take(uri, client: client.id, at: clock.age), &record)
            }
            redirectURI = try form.required("redirect_uri")
            guard RedirectURI.isRegistered(redirectURI, of: client) else {
                throw .invalidRequest("The redirect address is not registered.", reason: "wrong redirect_uri")
            }
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            return LoginPage.failure(error.description)
        }
        record.client = client.id
        record.user = form["login_hint"]
        do throws(OAuthError) {
            guard !client.requiresPushedRequests, !configuration.requiresPushedRequests else {
                throw .invalidRequest("authorization requests must be pushed", reason: "not pushed")
            }
            let authorization = try AuthorizationRequest(
                form, client: client, redirectURI: redirectURI, knownScopes: knownScopes,
                resources: try resources(of: form))
            try checkProfile(authorization)
            return try proceed(authorization, &record)
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            return refusal(error.code, error.description, redirectURI: redirectURI, state: form["state"], .found)
        }
    }

    /// A request that was pushed: whatever else the browser brought does not count (RFC 9126 §4).
    private func authorize(
        _ authorization: AuthorizationRequest, _ record: inout RequestRecord
    ) throws(OAuthError) -> Reply {
        record.client = authorization.client.id
        record.user = authorization.loginHint
        do throws(OAuthError) {
            return try proceed(authorization, &record)
        } catch {
            record.outcome = error.code
            record.reason = error.reason
            return refusal(
                error.code, error.description, redirectURI: authorization.redirectURI, state: authorization.state,
                .found)
        }
    }

    private func proceed(
        _ authorization: AuthorizationRequest, _ record: inout RequestRecord
    ) throws(OAuthError) -> Reply {
        if configuration.approvesAutomatically {
            let user = authorization.loginHint ?? configuration.defaultUser
            return approval(of: authorization, user: user, .found, &record)
        }
        guard authorization.prompt != "none" else {
            throw OAuthError("login_required", "no user is logged in", reason: "prompt=none")
        }
        let ticket = SecretSource.random(length: 43)
        tickets.withLock { $0[ticket] = authorization }
        record.outcome = "page"
        return LoginPage.login(
            client: authorization.client.id, scopes: authorization.scope,
            user: authorization.loginHint ?? configuration.defaultUser, ticket: ticket,
            action: configuration.issuerPath + "/authorize/decision",
            redirectOrigin: RedirectURI.origin(of: authorization.redirectURI))
    }

    /// The buttons of the login page. Its ticket is good for one answer.
    func decide(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        let form = try request.form()
        guard let ticket = form["ticket"], let authorization = tickets.withLock({ $0.removeValue(forKey: ticket) })
        else {
            record.outcome = "invalid_request"
            record.reason = "unknown ticket"
            return LoginPage.failure(
                "This page was answered before. Start again from the application.")
        }
        record.client = authorization.client.id
        // 303 makes the browser follow with GET and drop the form (RFC 9700 §4.12).
        guard form["decision"] == "approve" else {
            record.outcome = "access_denied"
            return refusal(
                "access_denied", "the user said no", redirectURI: authorization.redirectURI,
                state: authorization.state, .seeOther)
        }
        let user = form["user"] ?? configuration.defaultUser
        return approval(of: authorization, user: user, .seeOther, &record)
    }

    private func approval(
        of authorization: AuthorizationRequest, user: String, _ status: HTTPResponse.Status,
        _ record: inout RequestRecord
    ) -> Reply {
        let code = CodeRecord(
            user: user, client: authorization.client.id, redirectURI: authorization.redirectURI,
            scope: granted(authorization.scope), resources: authorization.resources,
            challenge: authorization.challenge,
            keyThumbprint: authorization.keyThumbprint, openIDNonce: authorization.openIDNonce,
            contextClass: authorization.contextClass, details: authorization.details,
            expiresAt: clock.age + configuration.codeLifetime)
        let text = ledger.withLock { $0.issueCode(code) }
        record.user = user
        record.note("issued_code", text)
        let location = RedirectURI.adding(
            [("code", text), ("state", authorization.state), ("iss", callbackIssuer)], to: authorization.redirectURI)
        return .redirect(to: location, status: status)
    }

    private func refusal(
        _ code: String, _ description: String, redirectURI: String, state: String?, _ status: HTTPResponse.Status
    ) -> Reply {
        let location = RedirectURI.adding(
            [("error", code), ("error_description", description), ("state", state), ("iss", callbackIssuer)],
            to: redirectURI)
        return .redirect(to: location, status: status)
    }

    /// RFC 9207 §2.
    private var callbackIssuer: String { hostility.contains(.wrongIssuerInCallback) ? Self.stranger : issuer }
}
