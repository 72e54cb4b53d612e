import OAuthClient
import TokenVault

/// Whose login a call is about, once the policy has allowed it.
struct Subject: Sendable {
    let users: UserManager
    let login: LoginRef
    let tenant: String?
}

extension Operation.Field {
    /// The members by which a body names a login.
    static let subject: [Operation.Field] = [
        Operation.Field("user", .text(longest: 1_024), "The user whose login it is, as the app calls them."),
        Operation.Field("login", .text(longest: 64), "The login, by its id, instead of `user`."),
        Operation.Field(
            "provider", .text(longest: 256),
            "The provider's name, for a user with logins at several. By default the only one that the policy allows."),
        tenant,
    ]
    static let tenant = Operation.Field("tenant", .text(longest: 256), "The tenant of the user.")
}

extension Call {
    /// The manager for the tenant that the request names.
    func users() throws(Problem) -> UserManager {
        guard let text = values.text("tenant") else { return vault.users }
        guard let tenant = Tenant(text) else { throw .invalid("tenant is not the name of a tenant") }
        return vault.users.scoped(to: tenant)
    }

    func require(_ question: PolicyQuestion) throws(Problem) {
        if let refusal = client.refusal(of: question) { throw Problem(client, refusal) }
    }

    /// The login that the request names, if the policy allows the rest of the question for it.
    func subject(_ question: PolicyQuestion) async throws -> Subject {
        let users = try users()
        var question = question
        question.tenant = values.text("tenant")
        switch (values.text("user"), values.text("login")) {
        case (let user?, nil):
            question.user = user
            question.provider = values.text("provider") ?? client.onlyProvider
            if question.provider == nil, !client.allowsAllProviders {
                throw Problem.invalid(
                    "the request names no provider", hint: "the policy allows this client some providers, not all")
            }
            try require(question)
            let login: LoginRef =
                if let provider = question.provider {
                    .user(user, provider: provider)
                } else {
                    .user(user)
                }
            return Subject(users: users, login: login, tenant: question.tenant)
        case (nil, let text?):
            guard values.text("provider") == nil else {
                throw Problem.invalid("login and provider cannot be combined: a login has one provider")
            }
            let login = try await login(text, question)
            return Subject(users: users, login: .login(login.id), tenant: question.tenant)
        case (nil, nil):
            throw Problem.invalid(
                "the request names neither a user nor a login", hint: #"name one of them, such as {"user": "alice"}"#)
        default:
            throw Problem.invalid("the request names both a user and a login", hint: "name one of them")
        }
    }

    /// A login by its id. One that the policy does not allow is like one that is not there.
    func login(_ text: String, _ question: PolicyQuestion) async throws -> Login {
        guard let id = LoginID(text) else { throw Problem.unknownLogin }
        // What does not depend on the login is refused by its name.
        try require(question)
        let login: Login
        do {
            login = try await vault.users.vault.login(id, of: try users().tenant)
        } catch let error as VaultError where error.code == .unknownLogin {
            throw Problem.unknownLogin
        }
        // A manager of no tenant finds those of all.
        guard question.tenant != nil || Tenant.of(login.userId) == nil else { throw Problem.unknownLogin }
        var question = question
        (question.user, question.provider) = (login.userId, login.provider ?? "")
        guard client.refusal(of: question) == nil else { throw Problem.unknownLogin }
        return login
    }
}

extension PolicyClient {
    /// The provider that it may use, if that is a single one.
    var onlyProvider: String? { providers.only }
    var allowsAllProviders: Bool { providers.isAll }
}
