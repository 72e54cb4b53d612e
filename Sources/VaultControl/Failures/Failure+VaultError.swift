import OAuthClient
import TokenVault
import VaultImport

extension Failure {
    /// Every error that can reach a user, in the user's terms.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as VaultError: self.init(error)
        case let error as DiscoveryError: self.init(error, changedBy: nil)
        case let error as ExportError: self.init(error)
        case let error as OAuthValueError: self.init(error)
        case let error as OutputError: self.init(error)
        case let error as ImportError: self.init(error)
        case let error as HTTPTransportError:
            self.init(.provider, code: "network", error.description, hints: Self.hints(for: error.code))
        case is CancellationError: self.init(.partlyDone, code: "interrupted", "interrupted")
        default: self.init(.machine, code: "unexpected", "an unexpected error occurred (\(type(of: error)))")
        }
    }

    /// A failure that a command itself finds, for which the library has a code: the same exit code, and the same hint.
    init(_ code: VaultError.Code, _ message: String, hints: [String]? = nil) {
        let hints = hints ?? [Self.hint(for: code)].compactMap(\.self)
        self.init(ExitStatus(code), code: code.name, message, hints: hints)
    }

    init(_ error: VaultError) {
        // The library knows more about an identity than about a key file.
        let isNearer =
            error.code == .busy || error.code == .keyMalformed || error.message.contains("identity file")
            || error.code == .vaultMissing && (error.message.contains("database") || error.message.contains("was here"))
            || error.code == .unknownUser && error.hint?.contains("vaultctl audit") == true
        var hints = [
            error.answer.flatMap { Self.hint(for: $0, error.code) }, isNearer ? error.hint : nil,
            Self.hint(for: error.code),
            error.hint,
        ].compactMap(\.self).prefix(1)
        // The log-in is over, whatever else there is to check.
        if let hint = error.hint, hint.hasPrefix("begin the log-in again"), hints.first != hint {
            hints.insert(hint, at: hints.startIndex)
        }
        if let more = error.answer.flatMap({ Self.secondHint(for: $0, error.code) }) { hints.append(more) }
        if error.code == .damaged, hints.isEmpty { hints = ["restore the vault from a backup"] }
        if let wait = error.retryAfter, wait > .zero {
            hints.append("try again in \(Instant.duration(Double(wait.components.seconds) + 1))")
        }
        self.init(ExitStatus(error.code), code: error.code.name, error.message, hints: Array(hints))
        cause = error.answer?.failure?.name
        guard cause == nil else { return }
        answer = error.answer.map { Printable.escape($0.words) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The failure with the provider's name in it and in the hints' commands, if it is known.
    func naming(_ provider: String?) -> Failure {
        guard let provider else { return self }
        var named = self
        let front = "the provider has "
        if message.hasPrefix(front) {
            named.message = "the provider \(Printable.shortened(provider)) has " + message.dropFirst(front.count)
        }
        for command in [
            "provider show", "provider update", "provider remove", "provider test", "provider accept-deaths",
            "--provider",
        ] {
            let words = "\(command) \(Printable.argument(provider))"
            named.hints = named.hints.map { $0.replacing("\(command) NAME", with: words) }
        }
        return named
    }

    /// The hint for a missing reply, or one from elsewhere.
    private static func hint(for answer: ProviderAnswer, _ code: VaultError.Code) -> String? {
        if let location = answer.location { return hint(forRedirectTo: location) }
        return switch answer.failure {
        case nil where code == .tryLater && answer.error == nil: hint(forBare: answer.status)
        case nil: nil
        case .tls?: "for a private authority: --ca-file FILE; otherwise check the host: vaultctl provider show NAME"
        case .dns?: "check the host of the token endpoint: vaultctl provider show NAME; and this machine's DNS"
        case .proxy?: "check --proxy and --proxy-credentials-file"
        case .noClientCertificate?, .refused?: nil
        default: "check the network, and the token endpoint: vaultctl provider show NAME"
        }
    }

    /// A target that `--token-endpoint` refuses is not recommended.
    private static func hint(forRedirectTo location: String) -> String {
        let isPlain = location.lowercased().hasPrefix("http:")
        guard (try? EndpointURL(location, allowsInsecureLoopback: true)) != nil else {
            return (isPlain ? "it redirects to plain http on another machine, which is refused; " : "")
                + "check the token endpoint: vaultctl provider show NAME"
        }
        return "if the provider has moved: vaultctl provider update NAME --token-endpoint "
            + Printable.shortened(location, to: 200) + (isPlain ? " --allow-insecure-loopback" : "")
    }

    /// The hint for a refusal that is not one of a token endpoint.
    private static func hint(forBare status: Int?) -> String? {
        switch status {
        case 403?: "check whether this machine may ask the provider (firewall, proxy): vaultctl provider test NAME"
        case 404?, 405?, 410?: "check the token endpoint: vaultctl provider show NAME"
        default: nil
        }
    }

    /// A further hint for a refusal of the client, besides its id and its secret.
    private static func secondHint(for answer: ProviderAnswer, _ code: VaultError.Code) -> String? {
        guard code == .providerMisconfigured, answer.error == .invalidClient else { return nil }
        let words = answer.words.lowercased()
        if ["audience", "\"aud\"", "'aud'", " aud "].contains(where: words.contains) {
            return "another audience of the signed assertion: "
                + "vaultctl provider update NAME --assertion-audience issuer|token-endpoint"
        }
        return secretInBody
    }

    private static let secretInBody =
        "if the client has a secret, and it is right, the server may read it from the body alone: "
        + "vaultctl provider update NAME --client-auth client_secret_post --client-secret -"

    /// The same, without advice about a secret that this provider's client does not send like that.
    func naming(_ provider: String?, in vault: Vault) async -> Failure {
        var failure = self
        // A callback does not say whose client it is.
        if provider == nil, let index = hints.firstIndex(of: Self.secretInBody) {
            failure.hints[index] =
                "if vaultctl provider show NAME says client_secret_basic, and the secret is right, the server may read "
                + "it from the body alone: vaultctl provider update NAME --client-auth client_secret_post --client-secret -"
        }
        if let provider, let index = hints.firstIndex(of: Self.secretInBody),
            let method = try? await vault.provider(named: provider).clientAuthentication
        {
            if method == "none" {
                failure.hints[index] =
                    "this client sends no secret; if the provider gave it one: "
                    + "vaultctl provider update NAME --client-secret -"
            } else if method != "client_secret_basic" {
                failure.hints.remove(at: index)
            }
        }
        return failure.naming(provider)
    }

    private static func hints(for code: HTTPTransportError.Code) -> [String] {
        switch code {
        case .dns: ["check the host in the URL, and this machine's DNS"]
        case .tls: ["for a private authority: --ca-file FILE; otherwise check host and port in the URL"]
        case .connect, .timeout: ["check host and port in the URL, and the network"]
        case .proxy: ["check --proxy and --proxy-credentials-file"]
        case .truncated: ["try again; if that brings the same, look at the server, or at the proxy before it"]
        default: []
        }
    }

    /// Holds whether or not the option is there already.
    static let loopbackHint =
        "use https; http is for this machine alone (127.0.0.1, [::1], localhost), with --allow-insecure-loopback"

    private init(_ error: OAuthValueError) {
        var hints: [String] = []
        if error.code == .insecure {
            hints = [Self.loopbackHint]
        } else if error.subject == "redirect URI" {
            hints = [
                "use a whole URI without a fragment, such as https://app.example/callback: https, http on this machine, or "
                    + "an app's own scheme with a dot in it"
            ]
        } else if error.subject == "client key" {
            hints = ["use a private key in PEM form (-----BEGIN PRIVATE KEY-----): P-256, or RSA of at least 2048 bits"]
        } else if error.subject == "API origin" {
            hints = [
                "use scheme and host, without a path: https://api.acme.example; or https://*.acme.example, with a domain "
                    + "after the *"
            ]
        } else if error.subject.contains("issuer") || error.subject.contains("endpoint") {
            let path = error.subject.contains("endpoint") ? "/token" : ""
            hints = ["use a URL such as https://login.acme.example\(path)"]
        } else if error.code == .forbiddenCharacter {
            hints = [
                "copy it again: a line break, a blank, a quotation mark or a letter beyond ASCII may have come along"
            ]
        }
        if error.isOfUserInformation { hints.append("if there was a password in it, assume that others have seen it") }
        self.init(.usage, code: "invalidArgument", error.description, hints: hints)
    }

    private init(_ error: ExportError) {
        let isMachine = error.code == .notWritten
        self.init(
            isMachine ? .machine : .usage, code: isMachine ? "outputFailed" : "invalidArgument", error.message,
            hints: error.hint.map { [$0] } ?? [])
    }

    /// - Parameter command: the command that changes the provider, where the options are not those of this one.
    init(_ error: DiscoveryError, changedBy command: String?) {
        let front = command.map { $0 + " " } ?? ""
        let endpoints =
            "specify the endpoints: "
            + (command == nil
                ? "--token-endpoint, --authorization-endpoint"
                : "\(front)--token-endpoint URL --authorization-endpoint URL")
        let hints =
            switch error.code {
            case .unreachable where error.isUnanswered: ["try again later"]
            case .unreachable: ["check the issuer's URL and the network; for a private authority, use --ca-file FILE"]
            case .serverError: ["try again later, or \(endpoints)"]
            case .notFound where error.status == 401 || error.status == 403:
                [
                    "check whether this machine may ask it (firewall, proxy)",
                    endpoints,
                ]
            case .notFound:
                ["check the issuer's URL, or \(endpoints)"]
            case .issuerMismatch where error.named?.contains("{tenantid}") == true:
                [
                    "Microsoft Entra names each directory: \(front)--profile entra --issuer "
                        + "https://login.microsoftonline.com/TENANT-ID/v2.0"
                ]
            case .issuerMismatch:
                [
                    error.named.map {
                        "if that is the right server: \(front)--issuer \(Printable.shortened($0, to: 200))"
                    }
                        ?? "copy the issuer exactly as the provider documents it, with or without the final slash"
                ]
            case .malformed where error.transportError?.code == .truncated:
                ["try again; if that brings the same, \(endpoints)"]
            case .malformed where error.member == nil:
                ["check the issuer's URL", endpoints]
            case .insecureEndpoint
            where error.named.flatMap { try? EndpointURL($0, allowsInsecureLoopback: true) } != nil:
                ["for a development server on this machine: --allow-insecure-loopback"]
            default: [endpoints]
            }
        self.init(.provider, code: "discovery", error.description, hints: hints)
    }

    private init(_ error: ImportError) {
        let status: ExitStatus =
            switch error.code {
            case .unreadableFile: .machine
            case .damagedSource: .damaged
            case .busySource: .busy
            default: .usage
            }
        self.init(
            status, code: error.code.name, error.message,
            hints: Self.hints(for: error))
    }

    /// Hints in terms of the command line.
    private static func hints(for error: ImportError) -> [String] {
        switch error.code {
        case .severalStores where error.hint?.contains("--") != true:
            ["name the one that is meant: --kind KIND or --table TABLE"]
        case .secretNeeded:
            [
                "give the source's own secret: --better-auth-secret-file, --nango-key-file, or --decrypt-command",
                "if these are the tokens themselves: --tokens-are-plain",
            ]
        case .wrongSecret:
            ["give the source's own secret: --better-auth-secret-file, --nango-key-file, or --decrypt-command"]
        default: [error.hint].compactMap(\.self)
        }
    }

    private init(_ error: OutputError) {
        switch error {
        case .closed: self.init(.success, code: "outputClosed", "the output was closed")
        case .full: self.init(.machine, code: "outputFull", "the output could not be written: the disk is full")
        case .notOpen:
            self.init(
                .machine, code: "outputFailed",
                "the output could not be written: standard output is closed, or not open for writing")
        case .failed: self.init(.machine, code: "outputFailed", "the output could not be written")
        }
    }

    /// A hint in terms of the command line, which the library does not know.
    private static func hint(for code: VaultError.Code) -> String? {
        switch code {
        case .unknownUser: "list all users: vaultctl user list"
        case .unknownLogin: "list all logins: vaultctl login list"
        case .unknownProvider: "list all providers: vaultctl provider list"
        case .unknownKeySlot: "list all key slots: vaultctl key list"
        case .unknownRevocation: "list pending revocations: vaultctl outbox list"
        case .unknownReply: "list the kept replies: vaultctl login salvage LOGIN"
        case .unknownAuthorizationRequest:
            "if it was completed already, the login is there: vaultctl login list --user USER; otherwise begin again: "
                + "vaultctl login begin"
        case .userDisabled: "enable the user: vaultctl user enable USER"
        case .notLoggedIn:
            "what became of earlier ones: vaultctl audit list --user USER; to log the user in: "
                + "vaultctl login begin --user USER --provider NAME"
        case .vaultMissing: "check --vault, or create a vault: vaultctl init"
        case .migrationNeeded: "stop the services that use the vault, then run: vaultctl migrate up"
        case .newerSchema: "use a vaultctl at least as new as the one that wrote this vault"
        case .refreshFailed, .lostResponse, .notRefreshable:
            "set a new token: vaultctl token update; or ask the user to log in again: vaultctl login begin"
        case .needsUserInteraction: "ask the user to log in again: vaultctl login begin"
        case .wrongKey:
            "check which key you specified; with a key that works, vaultctl key list shows all key slots"
        case .keyMissing: "check --key-file; a vault cannot be opened without one of its keys"
        case .keyTooCostly:
            "if the slot is yours, raise --passphrase-memory-limit; otherwise use a key file, and find out who can "
                + "write to the vault"
        case .keyServiceBusy: "try again in a moment: the program, or the service behind it, is slow or overloaded"
        case .keyTruncated, .keyMalformed: "restore the key file from its backup; vaultctl never replaces a key file"
        case .refreshStalled: "see which process holds the renewal, and what to do: vaultctl login show LOGIN"
        case .sourceNotQuiet:
            "stop what renews there, then read it to its end: vaultctl import run SOURCE --final; sources by name: "
                + "vaultctl import status"
        case .busy: "another process is writing; try again, and if this persists, look for a stalled process"
        case .unknownRow: "list all damaged rows: vaultctl damage list"
        case .unknownBackup: "list all backups: vaultctl backup list"
        case .heldBySource: "see which system renews it, and what to do: vaultctl login show LOGIN"
        case .held:
            "see what is held, and at what risk: vaultctl restore status; or ask the user to log in again: "
                + "vaultctl login begin"
        default: nil
        }
    }
}

extension ExitStatus {
    init(_ code: VaultError.Code) {
        switch code {
        case .unknownUser, .unknownLogin, .unknownProvider, .unknownAuthorizationRequest, .unknownKeySlot,
            .unknownRevocation, .unknownReply, .unknownRow, .unknownBackup,
            .notLoggedIn, .vaultMissing, .vaultUnfinished:
            self = .notFound
        case .refreshFailed, .lostResponse, .notRefreshable, .needsUserInteraction, .userDisabled:
            self = .loginDead
        case .providerMisconfigured, .tryLater, .refreshStalled, .network, .deadlineExceeded, .protocolViolation,
            .logInRefused, .logInExpired, .otherAccount, .resourceRefused:
            self = .provider
        case .wrongKey, .keyMissing, .keyExists, .keyTruncated, .keyMalformed, .keyUnsafe,
            .keyTooCostly, .keyUnavailable:
            self = .key
        case .damaged, .quarantined, .notAVault, .notABackup:
            self = .damaged
        case .rollbackSuspected, .held, .heldBySource, .moved:
            self = .rollback
        case .busy, .keyServiceBusy:
            self = .busy
        case .storageFull, .readOnly, .storageFailed, .unsafeFile, .cryptographyUnavailable, .ownershipLost,
            .closed:
            self = .machine
        default:
            self = .usage
        }
    }
}
