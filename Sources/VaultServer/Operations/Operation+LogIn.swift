import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

extension Operation.Field {
    /// What is said of a login.
    static let login: [Operation.Field] = [
        .required("id", .text(longest: 0), "The login's id."),
        .required("user", .text(longest: 0), "Its user."),
        Operation.Field("provider", .text(longest: 0), "Its provider; missing if its tokens come from the app."),
        Operation.Field("label", .text(longest: 0), "Its label."),
        .required("state", .text(longest: 0), "How it stands: `established`, `expired`, `dead`, …"),
        .required("needs_user", .flag, "Whether the user must connect it again. Outages pass by themselves."),
        Operation.Field("scope", .text(longest: 0), "The scope of its token."),
        Operation.Field("expires_at", .number, "When its access token expires, in seconds since 1970."),
        .required("generation", .number, "How many tokens it has had."),
    ]
}

extension Operation {
    static let logins = Operation(
        method: .get, path: "/v1/logins", id: "listLogins", summary: "A user's logins.", verb: .logins,
        query: [
            .required("user", .text(longest: 1_024), "The user."),
            Field("provider", .text(longest: 256), "Only those at this provider."), Field.tenant,
        ],
        answer: [.required("logins", .list(.object(Field.login)), "In the order of their ids.")]
    ) { call in
        let users = try call.users()
        let user = call.values.text("user") ?? ""
        var question = PolicyQuestion(.logins, user: user, tenant: call.values.text("tenant"))
        question.provider = call.values.text("provider")
        try call.require(question)
        var filter = LoginFilter(userId: user, provider: question.provider)
        filter.tenant = users.tenant
        var logins: [JSONMembers] = []
        do {
            for try await case .login(let login) in users.vault.logins(where: filter) {
                question.provider = login.provider ?? ""
                if call.client.refusal(of: question) == nil { logins.append(JSONMembers(login)) }
            }
        } catch let error as VaultError where error.code == .unknownUser {}
        var members = JSONMembers()
        members.add("logins", logins)
        return .json(members)
    }

    static let beginLogIn = Operation(
        method: .post, path: "/v1/logins/begin", id: "beginLogIn",
        summary:
            "Begins a log-in, or with `login` one into an existing login: send the browser to `url`, and `binding` "
            + "into a cookie of it.", verb: .logIn,
        body: Field.subject + [
            Field(
                "redirect_uri", .text(longest: 2_048),
                "Where the provider sends the browser; by default the provider's only one."),
            Field("scope", .text(longest: 4_096), "By default the provider's."),
            Field("label", .text(longest: 256), "Distinguishes this user's logins."),
            Field("login_hint", .text(longest: 1_024), "The account that the provider should expect."),
            Field("context", .texts, "Given back when the log-in is completed."),
            Field("variables", .texts, "Values that the provider's profile wants of each log-in."),
            Field(
                "accepts_other_account", .flag, "With `login`: whether the user may choose another account than before."
            ),
        ],
        answer: [
            .required("url", .text(longest: 0), "Where the user's browser must go."),
            .required("state", .text(longest: 0), "Comes back with the callback, and identifies this log-in."),
            .required(
                "binding", .text(longest: 0),
                "For a cookie of this browser: HttpOnly, Secure, SameSite=Lax, until `expires_at`."),
            .required("expires_at", .number, "Until when the log-in can be completed, in seconds since 1970."),
        ]
    ) { call in
        let begun = try await call.begin()
        var members = JSONMembers()
        members.add("url", begun.url)
        members.add("state", begun.state)
        members.add("binding", begun.binding.reveal())
        members.add("expires_at", begun.expiresAt)
        return .json(members)
    }

    static let completeLogIn = Operation(
        method: .post, path: "/v1/logins/complete", id: "completeLogIn",
        summary: "Completes a log-in with the callback's URL and the browser's cookie.", verb: .logIn,
        body: [
            .required("url", .text(longest: 16_384), "The URL that the browser asked for, with its query."),
            .required("binding", .text(longest: 256), "The value of the browser's cookie."),
            .required("user", .text(longest: 1_024), "The user in whose session the callback came."),
            Field.tenant,
        ],
        answer: [
            .required("login", .object(Field.login), "The login."),
            .required("context", .texts, "What the begin of the log-in had."),
            Field("why_not_renewable", .text(longest: 0), "Why it cannot be renewed; missing: it can."),
        ]
    ) { call in
        let user = call.values.text("user") ?? ""
        try call.require(PolicyQuestion(.logIn, user: user, tenant: call.values.text("tenant")))
        guard let binding = call.values.text("binding").flatMap({ try? BrowserBinding($0) }) else {
            throw Problem.invalid("binding is not the value that began the log-in")
        }
        let done = try await call.users().completeLogIn(
            .url(call.values.text("url") ?? ""), boundTo: binding, expectedUserId: user)
        var members = JSONMembers()
        members.add("login", JSONMembers(done.login))
        members.add("context", done.context)
        members.add("why_not_renewable", done.whyNotRenewable)
        return .json(members)
    }

    static let logOut = Operation(
        method: .delete, path: "/v1/logins/{id}", id: "logOut",
        summary: "Logs a login out, and revokes it at the provider.", verb: .logOut, query: [Field.tenant],
        answer: [.required("is_revoked", .flag, "Whether the provider has confirmed it; if not, it is tried again.")]
    ) { call in
        var question = PolicyQuestion(.logOut)
        question.tenant = call.values.text("tenant")
        let login = try await call.login(call.parameters["id"] ?? "", question)
        let report = try await call.users().logOut(.login(login.id))
        var members = JSONMembers()
        members.add("is_revoked", report.isComplete)
        return .json(members)
    }
}

extension Call {
    fileprivate func begin() async throws -> AuthorizationRequest {
        let subject = try await subject(PolicyQuestion(.logIn))
        let (redirectURI, scope): (RedirectURI?, Scope?)
        do throws(OAuthValueError) {
            redirectURI = try values.text("redirect_uri").map { text throws(OAuthValueError) in try RedirectURI(text) }
            scope = try values.text("scope").map { text throws(OAuthValueError) in try Scope(text) }
        } catch {
            throw Problem.invalid("redirect_uri or scope: \(error)")
        }
        if let scope, let refusal = client.refusal(ofTokenWithScope: scope.tokens) { throw Problem(client, refusal) }
        let context = values.texts("context") ?? [:]
        let variables = values.texts("variables") ?? [:]
        let request: LogInRequest
        if let user = values.text("user") {
            guard let provider = values.text("provider") ?? client.onlyProvider else {
                throw Problem.invalid("the log-in names no provider")
            }
            request = LogInRequest(
                userId: user, provider: provider, redirectURI: redirectURI, scope: scope, label: values.text("label"),
                loginHint: values.text("login_hint"), context: context, variables: variables)
        } else {
            request = LogInRequest(
                into: subject.login, redirectURI: redirectURI, scope: scope, loginHint: values.text("login_hint"),
                context: context, variables: variables,
                acceptsOtherAccount: values.flag("accepts_other_account") ?? false)
        }
        return try await subject.users.beginLogIn(request)
    }
}

extension JSONMembers {
    init(_ login: Login) {
        self.init()
        add("id", login.id.description)
        add("user", login.userId)
        add("provider", login.provider)
        add("label", login.label)
        add("state", login.standing.rawValue)
        add("needs_user", [.dead, .needsUser, .terminated].contains(login.standing))
        add("scope", login.scope?.description)
        add("expires_at", login.expiresAt)
        add("generation", login.generation)
    }
}
