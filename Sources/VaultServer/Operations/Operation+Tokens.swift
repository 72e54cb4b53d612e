import FoundationEssentials
import HTTPTypes
import OAuthClient
import Platform
import TokenVault

extension Operation {
    private static let purpose: [Field] = [
        Field("scope", .text(longest: 4_096), "Less than what was granted, separated by spaces."),
        Field("resource", .text(longest: 2_048), "The resource that the token is for (RFC 8707)."),
        Field("minimumValidity", .seconds(), "For how long the token must be valid."),
        Field(
            "deadline", .seconds(most: 300),
            "How long to wait for a renewal at most: by default 30 seconds. The renewal goes on."
        ),
    ]

    static let token = Operation(
        method: .post, path: "/v1/token", id: "getToken", summary: "A good access token of a login.", verb: .token,
        body: Field.subject + purpose,
        answer: [
            .required("access_token", .text(longest: 0), "The token."),
            .required("token_type", .words(["Bearer"]), "How to send it (RFC 6750)."),
            Field("expires_at", .number, "When it expires, in seconds since 1970; missing if that is not known."),
            Field("scope", .text(longest: 0), "Its scope; missing if that is not known."),
            .required("login", .text(longest: 0), "The login's id."),
            .required("generation", .number, "Which of the login's tokens it is."),
        ]
    ) { call in
        let (token, _) = try await call.token(.token)
        guard token.tokenType == .bearer else {
            throw Problem(
                .conflict, "boundToken", "this token is bound to a key, and of no use without proofs",
                hint: "POST /v1/authorize makes the header fields of one request, with the proof")
        }
        await call.noteHandOut(token)
        var members = JSONMembers()
        members.add("access_token", token.accessToken.reveal())
        members.add("token_type", "Bearer")
        members.add("expires_at", token.expiresAt)
        members.add("scope", token.scope?.description)
        members.add("login", token.login.description)
        members.add("generation", token.generation)
        return .json(members)
    }

    static let authorize = Operation(
        method: .post, path: "/v1/authorize", id: "authorizeRequest",
        summary: "The header fields that authorize one request to an API, with a DPoP proof where the token needs one.",
        verb: .authorize,
        body: Field.subject + purpose + [
            .required("method", .text(longest: 32), "The request's method."),
            .required("url", .text(longest: 8_192), "The request's URL."),
            Field("nonce", .text(longest: 1_024), "The nonce of an earlier reply's DPoP-Nonce header field."),
        ],
        answer: [
            .required("headers", .texts, "Header fields to add to the request."),
            Field("expires_at", .number, "When the token expires, in seconds since 1970."),
            .required("login", .text(longest: 0), "The login's id."),
            .required("generation", .number, "Which of the login's tokens it is."),
        ]
    ) { call in
        let (request, target) = try call.request()
        var question = PolicyQuestion(.authorize)
        (question.target, question.method) = (target, request.method.rawValue)
        let (token, users) = try await call.token(question)
        if let nonce = call.values.text("nonce") {
            guard let nonce = DPoPNonce(nonce) else { throw Problem.invalid("nonce is not a nonce (RFC 9449 §8.1)") }
            try users.learn(nonce, of: token.login, for: request)
        }
        let authorized = try await users.authorize(request, with: token)
        guard try await authorized.certificate() == nil else {
            throw Problem(
                .conflict, "boundToken",
                "this token is bound to the client's certificate, whose key does not leave the vault")
        }
        await call.noteHandOut(token)
        var fields: [String: String] = [:]
        for field in authorized.request.headerFields { fields[field.name.rawName] = field.value }
        var members = JSONMembers()
        members.add("headers", fields)
        members.add("expires_at", token.expiresAt)
        members.add("login", token.login.description)
        members.add("generation", token.generation)
        return .json(members)
    }
}

extension Call {
    func token(_ verb: PolicyClient.Verb) async throws -> (VaultToken, UserManager) {
        try await token(PolicyQuestion(verb))
    }

    /// A good token, if the policy allows it.
    func token(_ question: PolicyQuestion) async throws -> (VaultToken, UserManager) {
        var question = question
        let request = try tokenRequest()
        (question.scope, question.resource) = (request.scope?.tokens, request.resource)
        let subject = try await subject(question)
        let token = try await subject.users.accessToken(for: subject.login, request)
        if let refusal = client.refusal(ofTokenWithScope: token.scope?.tokens) { throw Problem(client, refusal) }
        return (token, subject.users)
    }

    func tokenRequest() throws -> TokenRequest {
        let scope: Scope?
        do throws(OAuthValueError) {
            scope = try values.text("scope").map { text throws(OAuthValueError) in try Scope(text) }
        } catch {
            throw Problem.invalid("scope is not a scope (RFC 6749 §3.3)")
        }
        return TokenRequest(
            minimumValidity: values.number("minimumValidity").map { .milliseconds(Int($0 * 1000)) },
            deadline: .milliseconds(Int((values.number("deadline") ?? 30) * 1000)),
            resource: values.text("resource"), scope: scope)
    }

    /// The request to an API that the body describes.
    func request() throws(Problem) -> (HTTPRequest, EndpointURL) {
        guard let method = values.text("method").flatMap({ HTTPRequest.Method($0) }) else {
            throw .invalid("method is not a method of HTTP")
        }
        let target: EndpointURL
        do throws(OAuthValueError) {
            target = try EndpointURL(
                values.text("url") ?? "", allowsInsecureLoopback: vault.users.allowsInsecureLoopback)
        } catch {
            throw .invalid(
                error.code == .insecure
                    ? "a token goes to https URLs only" : "url is not a URL to which a request can go",
                hint: "url is absolute and percent-encoded, without user and fragment")
        }
        let request = HTTPRequest(
            method: method, scheme: target.scheme, authority: target.authority, path: target.requestTarget)
        return (request, target)
    }

    /// Writes down that this client has a token of this generation now, before it has it. A vault that cannot be written
    /// holds no token back: those that it has are given out.
    func noteHandOut(_ token: VaultToken) async {
        let holding = HandOuts.Holding(
            client: client.name, login: token.login, resource: token.resource,
            scope: token.requestedScope?.description)
        guard !vault.handOuts.has(holding, generation: token.generation) else { return }
        await vault.handOuts.note(holding, generation: token.generation) { [vault, client, connection] in
            do {
                try await vault.users.recordHandOut(of: token, to: client.name, user: connection.peer.user)
                return true
            } catch let error as VaultError {
                vault.options.onUnrecorded(client.name, error)
            } catch {}
            return false
        }
    }
}
