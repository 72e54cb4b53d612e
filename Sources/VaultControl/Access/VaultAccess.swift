import Glibc
import TokenVault
import TokenVaultHTTP

/// The vault that the options name, and the key that opens it.
struct VaultAccess {
    let options: GlobalOptions
    let invocation: Invocation

    init(_ options: GlobalOptions, _ invocation: Invocation) {
        self.options = options
        self.invocation = invocation
    }

    var path: String {
        get throws(Failure) {
            guard let path = options.vault ?? environment("TOKENVAULT_VAULT") else {
                throw .usage("no vault specified", hint: "use --vault PATH, or set TOKENVAULT_VAULT")
            }
            return path
        }
    }

    var trustsFileSystem: Bool { options.trustFileSystem || environment("TOKENVAULT_TRUST_FILE_SYSTEM") == "1" }

    /// How vaults are opened.
    var vaultOptions: VaultOptions {
        get throws(Failure) {
            var options = VaultOptions(trustsFileSystem: trustsFileSystem, logger: invocation.logger)
            if let limit = try passphraseMemoryLimit { options.passphraseMemoryLimit = limit.bytes }
            return options
        }
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

    var keyFile: String? { options.keyFile ?? environment("TOKENVAULT_KEY_FILE") }

    /// Whether the options or the environment name any key.
    var namesKey: Bool {
        options.passphrase.isGiven || keyFile != nil || environment("TOKENVAULT_PASSPHRASE_FILE") != nil
    }

    /// The key file, unless a passphrase takes precedence.
    var keyFileInUse: String? {
        guard options.keyFile == nil else { return options.keyFile }
        let hasPassphrase = options.passphrase.isGiven || environment("TOKENVAULT_PASSPHRASE_FILE") != nil
        return hasPassphrase ? nil : keyFile
    }

    /// Opens the vault, runs `body`, and closes the vault: renewals under way are finished and stored first.
    func open<R>(_ body: (Vault, inout SecretReader) async throws -> R) async throws -> R {
        let path = try path
        // Asking for a passphrase comes after the certainty that there is something to open.
        guard unsafe access(path, F_OK) == 0 else { throw Self.missing(path) }
        var reader = SecretReader(invocation.console)
        let key = try keySource(&reader, isNew: false)
        let vault = try await Vault.open(at: path, unlockedBy: key, options: try vaultOptions)
        do {
            let result = try await body(vault, &reader)
            await vault.close()
            return result
        } catch {
            await vault.close()
            throw error
        }
    }

    func open<R>(_ body: (Vault) async throws -> R) async throws -> R {
        try await open { vault, _ in try await body(vault) }
    }

    /// Opens the vault with a user manager on the network.
    ///
    /// - Parameter options: by default, a command does what it says, and does not wait for other logins' revocations.
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

    /// Plain http to this machine is decided when a provider is added; what is stored may be used.
    func makeTransport() throws -> ProviderTransport {
        var transport = AsyncHTTPTransport.Options(allowsInsecureLoopback: true, userAgent: "vaultctl")
        if let path = options.caFile ?? environment("TOKENVAULT_CA_FILE") {
            guard unsafe access(path, F_OK) == 0 else {
                throw Failure(
                    .notFound, "there is no CA file at \(Printable.shortened(path, to: 200))",
                    hints: ["check --ca-file"])
            }
            do {
                transport.trustRoots = try .systemAnd(pemFile: path)
            } catch {
                throw Failure.usage(
                    "\(Printable.shortened(path, to: 200)) does not contain certificates in PEM form",
                    hint: "check --ca-file")
            }
        }
        return ProviderTransport(AsyncHTTPTransport(options: transport), invocation)
    }

    /// The key that the options name; asked for where they name none and a person is there.
    ///
    /// - Parameter isNew: asks twice, because a new passphrase cannot be checked.
    func keySource(_ reader: inout SecretReader, isNew: Bool) throws -> KeySource {
        if let source = try options.passphrase.source {
            guard options.keyFile == nil else {
                throw Failure.usage("--key-file and a passphrase cannot be combined", hint: "use only one of them")
            }
            return try passphrase(&reader, from: source)
        }
        if let keyFile = options.keyFile {
            return .keyFile(keyFile)
        }
        if let passphraseFile = environment("TOKENVAULT_PASSPHRASE_FILE") {
            return try passphrase(&reader, from: .file(passphraseFile))
        }
        if let keyFile {
            return .keyFile(keyFile)
        }
        guard invocation.console.inputIsTerminal else {
            throw Failure(
                .keyMissing, "no key specified",
                hints: ["use --key-file PATH or --passphrase-file PATH, or set TOKENVAULT_KEY_FILE"])
        }
        return .passphrase(Passphrase(try isNew ? newPassphrase(&reader) : reader.read("Passphrase", from: .prompt)))
    }

    /// A file that is not there is a missing key, as it is for key files.
    private func passphrase(_ reader: inout SecretReader, from source: SecretSource) throws -> KeySource {
        do {
            return .passphrase(Passphrase(try reader.read("Passphrase", from: source)))
        } catch let failure as Failure where failure.status == .notFound {
            throw Failure(.keyMissing, failure.message, hints: ["check --passphrase-file"])
        }
    }

    /// Asks twice.
    func newPassphrase(_ reader: inout SecretReader) throws -> String {
        let first = try reader.read("New passphrase", from: .prompt)
        let second = try reader.read("Repeat the new passphrase", from: .prompt)
        guard first == second else { throw Failure.usage("the passphrases do not match", hint: "try again") }
        return first
    }

    private func environment(_ name: String) -> String? {
        invocation.console.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func missing(_ path: String) -> Failure {
        Failure(.vaultMissing, "there is no vault at \(Printable.shortened(path, to: 200))")
    }
}
