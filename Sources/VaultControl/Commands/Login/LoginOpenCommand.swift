import ArgumentParser
import LoopbackRedirect
import TokenVault

struct LoginOpenCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Log a user in through a browser on this machine.",
        discussion: """
            Opens the provider's log-in page, and waits on a port of this machine (RFC 8252) until the browser returns.

            Over SSH, open the printed URL in your local browser. It ends at an address at 127.0.0.1 that it cannot \
            reach; paste that address at the prompt.

            vaultctl login open --into LOGIN

            With --into, the user logs in again into a login that is there: a dead one lives again under its id. The \
            grant that it had is revoked. With --add-scope as well, the user is asked for more than before.

            vaultctl login open --user alice --resource https://notes.example/mcp

            Without --provider, the API says where to log in (RFC 9728), and vaultctl becomes a client there if the \
            vault has none. The login's tokens go to that API and nowhere else.
            """)

    @OptionGroup var logIn: LogInOptions

    @Option(
        help: .init(
            "Where the browser returns: by default http://127.0.0.1/callback, or what is registered; on any free port.",
            valueName: "url"))
    var redirectURI: String?

    @Option(help: .init("The port to listen on, if the provider requires a fixed one.", valueName: "number"))
    var port: Int?

    @Option(help: .init("How long to wait for the browser, such as 90s or 10m; 1h at most.", valueName: "time"))
    var timeout: TimeSpan = .init(.seconds(300))

    @Flag(
        inversion: .prefixedNo,
        help: "Open the browser. By default, if this is a terminal and there is a desktop or $BROWSER.")
    var browser: Bool?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        guard timeout.duration > .zero else { throw Failure.usage("--timeout must be greater than zero") }
        guard timeout.duration <= CallbackWait.longest else {
            throw Failure.usage("--timeout is an hour at most, 1h", hint: "no provider waits longer for a user: use 1h")
        }
        invocation.warnOfCommas(in: logIn.scope)
        invocation.warnOfPrompt(logIn.prompt)
        let options = UserManagerOptions(
            recoveryInterval: nil, logInLifetime: BrowserLogIn.lifetime(timeout.duration),
            retriesRevocationsInBackground: false, allowsInsecureLoopback: logIn.allowInsecureLoopback)
        let done = try await VaultAccess(global, invocation).manage(options) { users, _ in
            try await logIn.warn(in: users.vault, invocation)
            let uri = try await redirect(users)
            let browser = BrowserLogIn(timeout: timeout.duration, opensBrowser: browser, invocation: invocation)
            return try await browser.logIn(users) { try await logIn.begin(users, at: uri, $0) }
        }
        try LoginView.emit(new: done, invocation)
        invocation.hint("get its token: vaultctl token get \(done.login.id)")
    }

    /// The redirect URI of the options or of the provider's registration, if it is on this machine.
    private func redirect(_ users: UserManager) async throws -> LoopbackRedirectURI {
        guard port.map({ (1...65_535).contains($0) }) ?? true else {
            throw Failure.usage("--port must be between 1 and 65535")
        }
        var uri = LoopbackRedirectURI.standard
        if let redirectURI {
            guard let given = LoopbackRedirectURI(redirectURI) else {
                throw Failure.usage(
                    "--redirect-uri must be on this machine, such as http://127.0.0.1/callback",
                    hint: "for a callback elsewhere: vaultctl login begin")
            }
            if let named = given.port, let port, named != port {
                throw Failure.usage(
                    "--redirect-uri names the port \(named), and --port is \(port)", hint: "use only one of them")
            }
            uri = given
        } else if let provider = try await logIn.providerName(in: users.vault),
            let registered = try await users.vault.provider(named: provider).redirectURI
        {
            uri = LoopbackRedirectURI(registered.rawValue) ?? uri
        }
        return port.map { uri.at(port: $0) } ?? uri
    }
}
