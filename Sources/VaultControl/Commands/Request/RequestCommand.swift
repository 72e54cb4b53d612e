import ArgumentParser
import HTTPTypes
import OAuthClient
import TokenVault
import TokenVaultHTTP

struct RequestCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Send a request to an API with a user's access token.",
        discussion: """
            vaultctl request https://api.example/me --user alice
            vaultctl request https://api.example/notes --user alice -H 'Content-Type: application/json' -d @note.json
            vaultctl request https://api.example/reports --client billing --scope report.read

            The token is renewed first if necessary. For a token that is bound to a DPoP key, the request carries a \
            proof. If the API says that the token is invalid, it is renewed and the request sent once more. The token \
            never appears in arguments, output or logs; the audit log records that it was used.

            The reply's body goes to standard output. The exit code is 9 if there was no reply, or one with a status \
            of 400 or more. The token goes to the URL that you name, so name only APIs that it is meant for; one that \
            is not among the provider's API origins is refused. A redirect is printed, not followed; with --follow it is \
            followed within the same server.

            With --log-in, the user logs in through a browser where the API says (RFC 9728) if they have no login for \
            it, if it no longer takes the token, or if it wants more scope.
            """)

    @Argument(help: .init("Where to: an https URL, percent-encoded.", valueName: "url"))
    var url: String

    @Argument(help: .init("The login's id, or its beginning.", valueName: "login"))
    var loginArgument: String?

    @Option(help: .init("The same as an option.", valueName: "id"))
    var login: String?

    @Option(name: .shortAndLong, help: .init("The user, if they have only one login.", valueName: "id"))
    var user: String?

    @OptionGroup var tenant: TenantOption

    @Option(
        help: .init("Send a token of the client itself, at this provider, instead of a user's.", valueName: "provider"))
    var client: String?

    @OptionGroup(title: "Options of --client") var clientToken: ClientTokenOptions

    @OptionGroup var content: RequestOptions

    @Flag(name: .shortAndLong, help: "Print the reply's status and header fields before its body.")
    var include = false

    @Flag(name: [.customShort("L"), .long], help: "Follow redirects within the same server, up to 10.")
    var follow = false

    @Option(help: .init("How long to wait for the reply, and between two pieces of it.", valueName: "time"))
    var timeout = TimeSpan(.seconds(60))

    @Flag(help: "Log --user in through a browser first, where the API says, if it asks for that.")
    var logIn = false

    @Flag(help: "Accept plain http to this machine, for a development server.")
    var allowInsecureLoopback = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let mostRedirects = 10
    private static let mostLogIns = 2
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    func validate() throws {
        guard timeout.duration > .zero else { throw ValidationError("--timeout must be greater than zero") }
        guard !logIn || user != nil else { throw ValidationError("--log-in needs --user") }
        if client == nil {
            guard !clientToken.isGiven else {
                throw ValidationError("--scope, --resource and --parameter are options of --client")
            }
        } else {
            guard login == nil, loginArgument == nil, user == nil else {
                throw ValidationError("--client cannot be combined with a login or --user")
            }
        }
        if let method = [url, loginArgument ?? ""].first(where: Self.methods.contains) {
            throw ValidationError("the method \(method) goes with its option: -X \(method)")
        }
        if let text = loginArgument, user != nil || client != nil, (try? LoginSelection.check(text)) == nil {
            throw ValidationError("Unexpected argument '\(text)'")
        }
        guard loginArgument?.contains("://") != true || url.contains("://") else {
            throw ValidationError("the URL and the login are swapped: it is vaultctl request URL LOGIN")
        }
        guard login == nil || loginArgument == nil else {
            throw ValidationError("a login and --login cannot be combined")
        }
    }

    func run(_ invocation: Invocation) async throws {
        let target = try RequestTargetURL(url, allowsInsecureLoopback: allowInsecureLoopback)
        let sender = try sender
        let content = try content.content(invocation.console)
        let access = VaultAccess(global, invocation)
        let (roots, proxy) = (try access.trustRoots, try access.proxy)
        let options = UserManagerOptions(
            recoveryInterval: nil, logInLifetime: BrowserLogIn.lifetime(BrowserLogIn(invocation: invocation).timeout),
            retriesRevocationsInBackground: false, allowsInsecureLoopback: allowInsecureLoopback)
        let status = try await access.manage(options) { users, _ in
            let client = AuthorizingClient(
                users: users,
                options: .init(trustRoots: roots, timeout: timeout.duration, userAgent: "vaultctl", proxy: proxy))
            do {
                let status = try await exchange(client, users, sender, target, content, invocation)
                await client.shutdown()
                return status
            } catch {
                await client.shutdown()
                throw timedOut(error) ?? error
            }
        }
        guard status >= 400 else { return }
        let failure = Failure(
            .provider, code: "httpStatus", "the server answered with status \(status)", hints: advice(status))
        throw invocation.end(afterOutput: failure)
    }

    /// The limit that the caller has set. Nil: another error, or nothing was sent, and more time would not help.
    private func timedOut(_ error: any Error) -> Failure? {
        guard error as? HTTPTransportError == HTTPTransportError(.maybeSent, .timeout) else { return nil }
        let limit = Instant.duration(Double(timeout.duration.components.seconds))
        return Failure(
            .provider, code: "network",
            "no reply, or no further piece of it, came in \(limit) (--timeout); the request may have been received",
            hints: ["if it needs longer, allow that: --timeout 2m"])
    }

    private func advice(_ status: Int) -> [String] {
        let owner = loginArgument ?? login ?? user.map { "--user \(Printable.shortened($0))" }
        switch (status, owner) {
        case (401, let owner?):
            return [
                "the API does not accept the token; whether it can be renewed: vaultctl login show \(owner)\(tenant.typed)"
            ] + (logIn || user == nil ? [] : ["if the API says where to log in: add --log-in"])
        case (403, let owner?):
            return ["the token may not do this; its scope: vaultctl token get \(owner)\(tenant.typed)"]
        case (401, nil), (403, nil): return ["name what the token is for: --scope, --resource or --parameter"]
        default: return []
        }
    }

    /// - Returns: the reply's status, once the whole reply is printed.
    private func exchange(
        _ client: AuthorizingClient, _ users: UserManager, _ sender: Sender, _ target: RequestTargetURL,
        _ content: RequestContent, _ invocation: Invocation
    ) async throws -> Int {
        let asked = ResourceRequest(
            users: tenant.tenant.map { users.scoped(to: $0.tenant) } ?? users, user: user ?? "", url: url,
            browser: BrowserLogIn(invocation: invocation))
        let sender = logIn ? .found(try await asked.login()) : sender
        let owner: Owner
        do {
            owner = try await recordReveal(sender, users, to: target.request(content))
        } catch let error as VaultError {
            guard case .found(let login) = sender, ErrorAnswer(error.code).needsUser else { throw error }
            try await asked.logInAgain(into: login)
            owner = try await recordReveal(sender, users, to: target.request(content))
        }
        var (target, content, logIns) = (target, content, 0)
        for _ in 0...Self.mostRedirects {
            let response: ResourceResponse
            do {
                response = try await send(target.request(content), content.requestBody, client, owner, invocation)
            } catch let error as VaultError {
                guard case .login(let login) = owner else { throw error }
                throw await LoginSelection.naming(error, .login(login), users.vault)
            }
            let status = response.head.status.code
            if logIn, logIns < Self.mostLogIns, case .login(let login) = owner,
                try await asked.logIn(after: response, into: login)
            {
                logIns += 1
                continue
            }
            guard follow, [301, 302, 303, 307, 308].contains(status),
                let location = response.head.headerFields[.location]
            else {
                try await ReplyPrinter(includesHead: include, invocation: invocation).print(response)
                if !follow { Self.note(redirect: status, to: response.head.headerFields[.location], invocation) }
                // Why no newer token was sent says more than the status.
                if let failure = response.renewalFailure {
                    var failure = Failure(await invocation.explain(failure, users.vault))
                    failure.message =
                        "the API does not accept the token (status \(status)), and it was not renewed: \(failure.message)"
                    throw invocation.end(afterOutput: failure)
                }
                if let challenge = response.stepUp {
                    throw invocation.end(afterOutput: Self.stepUp(challenge, response.token?.login))
                }
                if let scope = response.missingScope, !scope.isEmpty, let token = response.token {
                    throw invocation.end(afterOutput: Self.moreScope(scope, token.login, status))
                }
                return status
            }
            target = try target.following(location)
            content = content.redirected(by: status)
        }
        throw Failure(
            .provider, code: "redirectRefused", "the server redirects more than \(Self.mostRedirects) times")
    }

    private func send(
        _ request: HTTPRequest, _ body: RequestBody, _ client: AuthorizingClient, _ owner: Owner,
        _ invocation: Invocation
    ) async throws -> ResourceResponse {
        let start = ContinuousClock.now
        let response =
            switch owner {
            case .login(let login): try await client.send(request, body: body, for: .login(login))
            case .client(let provider, let tokenRequest, let parameters):
                try await client.send(
                    request, body: body, asClientOf: provider, tokenRequest, parameters: parameters)
            }
        if invocation.isVerbose {
            RequestLine(request, ContinuousClock.now - start).show(
                status: response.head.status.code, invocation)
        }
        return response
    }

    /// The owner of the request's token, as named.
    private enum Sender {
        case user(LoginSelection.Named)
        case found(LoginID)
        case client(String, TokenRequest, [FormParameter])
    }

    /// The same, once found.
    private enum Owner {
        case login(LoginID)
        case client(String, TokenRequest, [FormParameter])
    }

    private var sender: Sender {
        get throws {
            guard let client else {
                return .user(
                    try LoginSelection.Named(
                        login: login ?? loginArgument, user: user, tenant: tenant.tenant, way: "a login id"))
            }
            return .client(tenant.provider(client), try clientToken.request, try clientToken.parameters)
        }
    }

    /// A redirect without a body would look as if nothing had come.
    private static func note(redirect status: Int, to location: String?, _ invocation: Invocation) {
        guard (300...399).contains(status), let location,
            let shown = ProviderAnswer(status: status, error: nil, message: nil, location: location).location
        else { return }
        invocation.note(
            "the server redirects to \(Printable.shortened(shown, to: 200)) (\(status)), which is not followed")
    }

    private static func moreScope(_ scope: Scope, _ login: LoginID, _ status: Int) -> Failure {
        Failure(
            .provider, code: "scopeMissing",
            "the server answered with status \(status): the token lacks the scope \(Printable.shortened(scope.description))",
            hints: [
                "ask the user for it: vaultctl login open --into \(login) --add-scope \(Printable.argument(scope.description))"
            ])
    }

    /// The URL's server can read the token.
    private func recordReveal(
        _ sender: Sender, _ users: UserManager, to outgoing: HTTPRequest
    ) async throws -> Owner {
        switch sender {
        case .user(let named):
            return try await recordReveal(try await named.choice(in: users.vault), users, to: outgoing)
        case .found(let login): return try await recordReveal(.login(login), users, to: outgoing)
        case .client(let provider, let request, let parameters):
            try await users.checkTarget(of: outgoing, forClientOf: provider)
            try await users.recordReveal(
                of: try await users.clientToken(provider: provider, request, parameters: parameters))
            return .client(provider, request, parameters)
        }
    }

    private func recordReveal(
        _ choice: LoginSelection.Choice, _ users: UserManager, to outgoing: HTTPRequest
    ) async throws -> Owner {
        let token = try await users.token(of: choice, TokenRequest(), sentWith: outgoing)
        try await users.recordReveal(of: token)
        return .login(token.login)
    }

    private static func stepUp(_ challenge: StepUpChallenge, _ login: LoginID?) -> Failure {
        let classes = challenge.contextClasses.map { " --acr \(Printable.escape($0))" }.joined()
        let age = challenge.maximumAge.map { " --max-age \($0.components.seconds)s" } ?? ""
        let whom = login.map { "--into \($0)" } ?? "--user ID --provider NAME"
        return Failure(
            .provider, code: "stepUpRequired", challenge.description,
            hints: ["ask the user to log in again: vaultctl login begin \(whom)\(classes)\(age)"])
    }
}
