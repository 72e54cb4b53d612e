import LoopbackRedirect
import OAuthClient
import Platform
import TokenVault

/// A log-in through a browser of this machine, whose answer comes to a port of this machine (RFC 8252).
struct BrowserLogIn {
    /// Starts to listen at this URI, and returns it with the port.
    typealias Listen = (LoopbackRedirectURI) async throws -> RedirectURI

    var timeout = Duration.seconds(300)
    /// Nil: if this is a terminal, and there is a desktop.
    var opensBrowser: Bool?
    let invocation: Invocation

    /// How long the vault keeps the request: it must still be there when the browser returns at the last moment.
    static func lifetime(_ timeout: Duration) -> Duration { max(.seconds(600), timeout + .seconds(60)) }

    /// - Parameter begin: Listens, and begins the log-in with that redirect URI.
    func logIn(
        _ users: UserManager, _ begin: (_ listen: Listen) async throws -> AuthorizationRequest
    ) async throws -> CompletedLogIn {
        var listener: LoopbackRedirectListener?
        do {
            let request = try await begin { uri in
                let started = try await listen(at: uri)
                listener = started
                return try RedirectURI(started.redirectURI)
            }
            guard let listener else { throw Failure.usage("a log-in through a browser needs a redirect URI") }
            let done = try await complete(request, users, listener)
            await listener.finish(showing: .done)
            return done
        } catch {
            // If a browser has brought an answer, it has been shown the outcome.
            await listener?.close()
            throw error
        }
    }

    private func complete(
        _ request: AuthorizationRequest, _ users: UserManager, _ listener: LoopbackRedirectListener
    ) async throws -> CompletedLogIn {
        let state = try AuthorizationState(request.state)
        listener.lead(to: request.url)
        try announce(request, listener)
        let wait = CallbackWait(
            listener: listener, state: state, timeout: timeout, console: invocation.console)
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

    private func listen(at uri: LoopbackRedirectURI) async throws -> LoopbackRedirectListener {
        do {
            return try await .start(at: uri, admitting: Self.users(invocation.console.environment))
        } catch LoopbackRedirectError.portTaken {
            throw Failure(
                .machine, code: "portTaken", "port \(uri.port ?? 0) of this machine is already in use",
                hints: ["stop what listens there, or choose another registered port with --port"])
        } catch is LoopbackRedirectError {
            if let port = uri.port, port < 1_024 {
                throw Failure(
                    .machine, code: "cannotListen", "cannot listen on port \(port) of this machine",
                    hints: ["ports below 1024 are for administrators: choose another registered port with --port"])
            }
            throw Failure(.machine, code: "cannotListen", "cannot listen on any port of this machine")
        }
    }

    /// The users whose browser may come back: this user, and for an administrator with `sudo` the invoking user.
    private static func users(_ environment: [String: String]) -> Set<UInt32> {
        let person = UserID.current.isRoot ? environment["SUDO_UID"].flatMap { UInt32($0) } : nil
        return Set([UserID.real.number, UserID.current.number] + [person].compactMap(\.self))
    }

    /// The URL is printed even with `--quiet`: without it no one can continue.
    private func announce(_ request: AuthorizationRequest, _ listener: LoopbackRedirectListener) throws {
        let desktop = DesktopBrowser(invocation.console.environment)
        let isOpened =
            (opensBrowser ?? (invocation.console.isTerminal(.error) && desktop.isLikely))
            && desktop.open(listener.startURL)
        let title =
            isOpened ? "Your browser should open this page; if it does not, open it yourself:" : "Open this page:"
        invocation.note(title)
        try invocation.console.write(Printable.escape(request.url) + "\n", to: .error)
        if opensBrowser == true, !isOpened { invocation.warn("could not start a browser") }
        invocation.note(
            "Waiting for the browser at \(listener.redirectURI) for \(Instant.duration(timeout.inSeconds)).")
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
