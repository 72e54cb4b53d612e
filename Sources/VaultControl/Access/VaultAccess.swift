import OAuthClient
import TokenVault
import TokenVaultHTTP
import TokenVaultPostgreSQL
import VaultAdministration

/// The vault that the options name, and the key that opens it.
struct VaultAccess {
    let options: GlobalOptions
    let invocation: Invocation

    init(_ options: GlobalOptions, _ invocation: Invocation) {
        self.options = options
        self.invocation = invocation
    }

    var trustsFileSystem: Bool { options.trustFileSystem || environment("TOKENVAULT_TRUST_FILE_SYSTEM") == "1" }

    /// Refuses meaningless settings, and those that would fail only when they are needed.
    private func requireSensible() throws {
        let name = "TOKENVAULT_TRUST_FILE_SYSTEM"
        if let text = environment(name), !["0", "1"].contains(text) {
            throw Failure.usage("\(name) is \(Printable.named(text))", hint: "set it to 1, or unset it")
        }
        if options.proxy != nil || options.proxyCredentialsFile != nil { _ = try proxy }
        if options.caFile != nil { _ = try trustRoots }
    }

    /// The options for opening vaults.
    var vaultOptions: VaultOptions {
        get throws(Failure) {
            var options = VaultOptions(trustsFileSystem: trustsFileSystem, logger: invocation.logger)
            if let limit = try passphraseMemoryLimit { options.passphraseMemoryLimit = limit.bytes }
            options.witness = try witness
            options.stateDirectory = environment("TOKENVAULT_STATE_DIRECTORY")
            options.actor = invocation.actor
            return options
        }
    }

    /// The witness of the vault's newest state, if one is named.
    var witness: VaultWitness? {
        get throws(Failure) {
            let log = options.witnessLog ?? environment("TOKENVAULT_WITNESS_LOG")
            guard let keeper = try witnessKeeper else {
                guard log == nil else {
                    throw .usage(
                        "a witness log needs a witness",
                        hint: "use --witness PATH or --witness-command JSON, or set TOKENVAULT_WITNESS")
                }
                return nil
            }
            let file: String? = if case .file(let path) = keeper { path } else { nil }
            try requireFilesOfTheirOwn(file, log)
            return VaultWitness(keeper, intentLog: log)
        }
    }

    /// Any option comes before any variable.
    private var witnessKeeper: VaultWitness.Keeper? {
        get throws(Failure) {
            let option = "--witness-command"
            if let keeper = try Self.keeper(options.witness, options.witnessCommand, "--witness", option) {
                return keeper
            }
            let variables = ["TOKENVAULT_WITNESS", "TOKENVAULT_WITNESS_COMMAND"]
            return try Self.keeper(
                environment(variables[0]), environment(variables[1]), variables[0], variables[1])
        }
    }

    private static func keeper(
        _ path: String?, _ program: String?, _ pathName: String, _ programName: String
    ) throws(Failure) -> VaultWitness.Keeper? {
        guard path == nil || program == nil else {
            throw .usage("\(pathName) and \(programName) cannot be combined", hint: "use only one of them")
        }
        if let path { return .file(path) }
        guard let program else { return nil }
        return .program(try ProgramArguments.parse(program, programName, example: ProgramArguments.witness))
    }

    private var passphraseMemoryLimit: ByteCount? {
        get throws(Failure) {
            let name = "TOKENVAULT_PASSPHRASE_MEMORY_LIMIT"
            guard options.passphraseMemoryLimit == nil, let text = environment(name) else {
                return options.passphraseMemoryLimit
            }
            guard let limit = ByteCount(argument: text) else {
                throw .usage(
                    "\(name) is not a size: \(Printable.shortened(text))", hint: "use a size such as 512M or 2G")
            }
            return limit
        }
    }

    /// Opens the vault, runs `body`, and closes the vault, which first finishes and stores renewals in progress.
    func open<R>(_ body: (Vault, inout SecretReader) async throws -> R) async throws -> R {
        try await open { vault, _, reader in try await body(vault, &reader) }
    }

    /// The same for a body that needs the key itself.
    func openBySource<R>(_ body: (Vault, KeySource) async throws -> R) async throws -> R {
        try await open { vault, source, _ in try await body(vault, source) }
    }

    /// The same for a body that works with a second vault.
    func openBeside<R>(_ body: (Vault, KeySource, inout SecretReader) async throws -> R) async throws -> R {
        try await open(body)
    }

    private func open<R>(
        changing change: (inout VaultOptions) -> Void = { _ in },
        _ body: (Vault, KeySource, inout SecretReader) async throws -> R
    ) async throws -> R {
        let location = try location
        try requireSensible()
        // Ask for a passphrase only once it is certain that there is something to open.
        try requireFile()
        var reader = SecretReader(invocation.console)
        let source = try keySource(&reader, isNew: false)
        var options = try vaultOptions
        change(&options)
        let (key, vault) = try await explaining(vaultPlace, keyInUse) { [options] in
            let key = try await source.resolved()
            return (key, try await Vault.open(in: location, unlockedBy: key, options: options))
        }
        let head = try? await vault.auditHead()
        do {
            let result = try await body(vault, key, &reader)
            await invocation.made.take(after: head, from: vault, by: invocation.actor)
            await vault.close()
            return result
        } catch {
            await invocation.made.take(after: head, from: vault, by: invocation.actor)
            var named = (error as? VaultError).flatMap { explainedAfterOpening($0) } ?? error
            if let unfilled = await Self.unfilled(vault, error) { named = unfilled }
            // The vault knows more than the error: whether the tenant of a missing name is there.
            let explained = await invocation.explain(named, vault)
            await vault.close()
            throw explained
        }
    }

    /// The error of a name that is unknown because the move into the vault is not complete; nil if it is another one.
    private static func unfilled(_ vault: Vault, _ error: any Error) async -> Failure? {
        let codes: [VaultError.Code] = [.unknownUser, .unknownLogin, .unknownProvider, .notLoggedIn]
        guard let code = (error as? VaultError)?.code, codes.contains(code),
            (try? await vault.moveState())?.stage == .arriving, let reason = vault.readOnlyReason
        else { return nil }
        return Failure(.moved, reason, hints: vault.moveHint.map { [$0] })
    }

    func open<R>(_ body: (Vault) async throws -> R) async throws -> R {
        try await open { vault, _ in try await body(vault) }
    }

    /// The same for a vault that this machine need not know.
    func openUnpinned<R>(_ body: (Vault) async throws -> R) async throws -> R {
        try await open(changing: { $0.trustsUnpinned = true }) { vault, _, _ in try await body(vault) }
    }

    /// The same without the vault's witness: for comparing the vault with it.
    func openUnwitnessed<R>(_ body: (Vault) async throws -> R) async throws -> R {
        try await open(changing: { $0.witness = nil }) { vault, _, _ in try await body(vault) }
    }

    /// Opens the vault with a user manager on the network.
    ///
    /// - Parameter options: by default, a command does only its own work, and does not wait for other logins'
    ///   revocations.
    func manage<R>(
        _ options: UserManagerOptions = .init(recoveryInterval: nil, retriesRevocationsInBackground: false),
        _ body: (UserManager, inout SecretReader) async throws -> R
    ) async throws -> R {
        let transport = try makeTransport()
        let result: Result<R, any Error>
        do {
            result = .success(
                try await open { vault, reader in
                    try await body(
                        try await UserManager(vault: vault, transport: transport, options: options), &reader)
                })
        } catch {
            result = .failure(error)
        }
        // Last of all: closing the vault waits for renewals, and these need their connections.
        await transport.shutdown()
        return try result.get()
    }

    func manage<R>(_ body: (UserManager) async throws -> R) async throws -> R {
        try await manage { users, _ in try await body(users) }
    }

    /// Plain http to this machine is decided when a provider is added; stored URLs may be used.
    func makeTransport() throws -> ProviderTransport {
        let options = AsyncHTTPTransport.Options(
            allowsInsecureLoopback: true, trustRoots: try trustRoots, userAgent: "vaultctl", proxy: try proxy)
        return ProviderTransport(AsyncHTTPTransport(options: options), invocation)
    }

    /// The authorities that may vouch for a server.
    var trustRoots: AsyncHTTPTransport.TrustRoots {
        get throws(Failure) {
            guard let path = options.caFile ?? environment("TOKENVAULT_CA_FILE") else { return .system }
            let origin = origin("--ca-file", isGiven: options.caFile != nil, "TOKENVAULT_CA_FILE")
            if let problem = PathProblem(
                "CA file", at: path, from: origin, advice: "check \(origin)", home: environment("HOME"))
            {
                throw Failure(problem.isMissing ? .notFound : .machine, problem.message, hints: problem.hints)
            }
            if let refusal = TrustedFile(path).refusal {
                throw Failure(
                    .unsafeFile, "the CA file \(Printable.path(path)) \(refusal.reason)",
                    hints: [refusal.hint])
            }
            if FileKind(path) == .directory {
                try InputFile.refuseOther(at: path, from: origin, hint: "name a file with certificates in PEM form")
            }
            do {
                return try .systemAnd(pemFile: path)
            } catch {
                throw Failure.usage(
                    "\(Printable.path(path)) (\(origin)) does not contain certificates in PEM form",
                    hint: "check \(origin)")
            }
        }
    }

    /// The proxy through which providers are reached.
    var proxy: AsyncHTTPTransport.Proxy? {
        get throws {
            let file = options.proxyCredentialsFile ?? environment("TOKENVAULT_PROXY_CREDENTIALS_FILE")
            guard let url = options.proxy ?? environment("TOKENVAULT_PROXY") else {
                guard options.proxyCredentialsFile == nil else {
                    throw Failure.usage(
                        "there is no proxy that these credentials are for", hint: "use --proxy URL, too")
                }
                return nil
            }
            guard !url.contains("@") else {
                throw Failure.usage(
                    "the URL of the proxy holds credentials, and anyone on this machine can read it",
                    hint: "put USER:PASSWORD into a private file: --proxy-credentials-file PATH")
            }
            do {
                return try AsyncHTTPTransport.Proxy(url, credentials: try file.map { try proxyCredentials(in: $0) })
            } catch let error as OAuthValueError {
                let origin = origin("--proxy", isGiven: options.proxy != nil, "TOKENVAULT_PROXY")
                let scheme = PathProblem.scheme(of: url)?.lowercased()
                guard scheme != nil, scheme != "http", error.subject == "URL of the proxy" else {
                    throw Failure.usage("\(error.description) (\(origin))", hint: "write it as http://HOST:PORT")
                }
                throw Failure.usage(
                    "a proxy is reached by http, and not by \(Printable.shortened(scheme ?? "")) (\(origin))",
                    hint: "write it as http://HOST:PORT")
            }
        }
    }

    private func proxyCredentials(in path: String) throws -> AsyncHTTPTransport.Proxy.Credentials {
        let origin = origin(
            "--proxy-credentials-file", isGiven: options.proxyCredentialsFile != nil,
            "TOKENVAULT_PROXY_CREDENTIALS_FILE")
        var reader = SecretReader(invocation.console)
        let text = try reader.read("Proxy credentials", from: .file(path, from: origin))
        guard let colon = text.firstIndex(of: ":") else {
            throw Failure.usage("the proxy credentials have no colon", hint: "the file holds one line: USER:PASSWORD")
        }
        return try .init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }

    func environment(_ name: String) -> String? {
        invocation.console.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
