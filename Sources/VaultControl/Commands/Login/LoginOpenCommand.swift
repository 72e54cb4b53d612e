import ArgumentParser
import LoopbackRedirect
import OAuthClient
import Platform
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
            grant that it had is revoked.
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
        // The request must still be there when the browser returns at the last moment.
        let lifetime = max(.seconds(600), timeout.duration + .seconds(60))
        let options = UserManagerOptions(
            recoveryInterval: nil, logInLifetime: lifetime, retriesRevocationsInBackground: false)
        let done = try await VaultAccess(global, invocation).manage(options) { users, _ in
            try await TenantLookalike.warn(of: logIn.user, logIn.tenant, in: users.vault, invocation)
            let uri = try await redirect(users)
            let listener = try await listen(at: uri, invocation.console.environment)
            do {
                let done = try await logIn(users, listener, invocation)
                await listener.finish(showing: .done)
                return done
            } catch {
                // If a browser has brought an answer, `logIn` has shown it the outcome.
                await listener.close()
                throw error
            }
        }
        try LoginView.emit(new: done, invocation)
        invocation.hint("get its token: vaultctl token get \(done.login.id)")
    }

    private func logIn(
        _ users: UserManager, _ listener: LoopbackRedirectListener, _ invocation: Invocation
    ) async throws -> CompletedLogIn {
        let request = try await logIn.begin(users, redirectURI: listener.redirectURI)
        let state = try AuthorizationState(request.state)
        listener.lead(to: request.url)
        try announce(request, listener, invocation)
        let wait = CallbackWait(
            listener: listener, state: state, timeout: timeout.duration, console: invocation.console)
        let answer = try await wait.answer()
        do {
            let done = try await users.completeUnboundLogIn(.url(answer.url))
            try await users.revokeReplaced(of: done.login.id)
            return done
        } catch {
            await listener.finish(showing: RedirectPage(error, answer.callback))
            throw error
        }
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

    private func listen(
        at uri: LoopbackRedirectURI, _ environment: [String: String]
    ) async throws -> LoopbackRedirectListener {
        do {
            return try await .start(at: uri, admitting: Self.users(environment))
        } catch LoopbackRedirectError.portTaken {
            throw Failure(
                .machine, code: "portTaken", "port \(uri.port ?? 0) of this machine is already in use",
                hints: ["stop what listens there, or choose another registered port with --port"])
        } catch is LoopbackRedirectError {
            throw Failure(.machine, code: "cannotListen", "cannot listen on any port of this machine")
        }
    }

    /// The users whose browser may come back: this user, and for an administrator with `sudo` the invoking user.
    private static func users(_ environment: [String: String]) -> Set<UInt32> {
        let person = UserID.current.isRoot ? environment["SUDO_UID"].flatMap { UInt32($0) } : nil
        return Set([UserID.real.number, UserID.current.number] + [person].compactMap(\.self))
    }

    /// The URL is printed even with `--quiet`: without it no one can continue.
    private func announce(
        _ request: AuthorizationRequest, _ listener: LoopbackRedirectListener, _ invocation: Invocation
    ) throws {
        let desktop = DesktopBrowser(invocation.console.environment)
        let isOpened =
            (browser ?? (invocation.console.isTerminal(.error) && desktop.isLikely)) && desktop.open(listener.startURL)
        let title =
            isOpened ? "Your browser should open this page; if it does not, open it yourself:" : "Open this page:"
        invocation.note(title)
        try invocation.console.write(Printable.escape(request.url) + "\n", to: .error)
        if browser == true, !isOpened { invocation.warn("could not start a browser") }
        invocation.note(
            "Waiting for the browser at \(listener.redirectURI) for \(Instant.duration(timeout.duration.inSeconds)).")
        if invocation.console.inputIsTerminal {
            invocation.note(
                "If it runs on another machine, paste the address at which it ends (not echoed), then press Enter."
            )
        }
    }
}

extension RedirectPage {
    /// The page for a failed log-in. It shows the provider's text only if the provider's answer was accepted.
    init(_ error: any Error, _ callback: AuthorizationCallback) {
        if case .refused(let code, let words) = callback.answer, (error as? VaultError)?.code == .logInRefused {
            self = .refused(code.rawValue, words?.reveal())
        } else {
            self = .unfinished
        }
    }
}
