import TokenVault

/// The key that opens the vault, as named by the command line or the environment.
enum NamedKey {
    case keyFile(String)
    /// The line of a key file.
    case line(SecretSource)
    case environment
    case credential(String)
    case command([String])
    case wrapped([String])
    case identity(String)
    case passphrase(SecretSource)
}

extension VaultAccess {
    /// Options come before the environment, which includes the configuration file's settings; nil if neither names a
    /// key.
    var namedKey: NamedKey? {
        get throws(Failure) { try chosenKey?.key }
    }

    /// The same with its source. A passphrase that must be asked for has none.
    var keyInUse: KeyInUse? {
        get throws(Failure) { try chosenKey ?? KeyInUse(.passphrase(.prompt), from: "typed") }
    }

    private var chosenKey: KeyInUse? {
        get throws(Failure) {
            let given = try keysOfOptions
            guard given.count <= 1 else {
                throw .usage(
                    "\(given[0].origin) and \(given[1].origin) cannot be combined", hint: "use only one of them")
            }
            if let key = given.first { return key }
            return try keyOfEnvironment
        }
    }

    private var keysOfOptions: [KeyInUse] {
        get throws(Failure) {
            var given: [KeyInUse] = []
            if let source = try options.key {
                let key: NamedKey = if case .file(let path, _) = source { .keyFile(path) } else { .line(source) }
                given.append(KeyInUse(key, from: source.option(KeyLineKind.option)))
            }
            if let name = options.credential { given.append(KeyInUse(.credential(name), from: "--credential")) }
            if let text = options.keyCommand {
                given.append(
                    KeyInUse(.command(try ProgramArguments.parse(text, "--key-command")), from: "--key-command"))
            }
            if let text = options.wrapCommand {
                given.append(
                    KeyInUse(.wrapped(try ProgramArguments.parse(text, "--wrap-command")), from: "--wrap-command"))
            }
            if let path = options.identity { given.append(KeyInUse(.identity(path), from: "--identity")) }
            if let source = try options.passphrase {
                given.append(KeyInUse(.passphrase(source), from: source.option(PassphraseKind.option)))
            }
            return given
        }
    }

    private static let keyVariables: [(name: String, key: @Sendable (String, String) throws(Failure) -> NamedKey)] = [
        ("TOKENVAULT_KEY_FILE", { path, _ in .keyFile(path) }),
        ("TOKENVAULT_PASSPHRASE_FILE", { path, origin in .passphrase(.file(path, from: origin)) }),
        ("TOKENVAULT_CREDENTIAL", { name, _ in .credential(name) }),
        (
            "TOKENVAULT_KEY_COMMAND",
            { text, name throws(Failure) in .command(try ProgramArguments.parse(text, name)) }
        ),
        (
            "TOKENVAULT_WRAP_COMMAND",
            { text, name throws(Failure) in .wrapped(try ProgramArguments.parse(text, name)) }
        ),
        ("TOKENVAULT_IDENTITY", { path, _ in .identity(path) }),
    ]

    /// Two keys are refused: it is unclear which one is meant.
    private var keyOfEnvironment: KeyInUse? {
        get throws(Failure) {
            var given: [(name: String, key: NamedKey)] = []
            if options.allowEnvironmentKey, environment(Environment.key) != nil {
                given.append((Environment.key, .environment))
            }
            for (name, key) in Self.keyVariables {
                guard let text = environment(name) else { continue }
                given.append((name, try key(text, invocation.origins[name] ?? name)))
            }
            guard given.count <= 1 else {
                throw .usage(
                    "\(given[0].name) and \(given[1].name) are both set, and each names a key",
                    hint: "unset one of them, or name the key by an option")
            }
            return given.first.map { KeyInUse($0.key, from: invocation.origins[$0.name] ?? $0.name) }
        }
    }

    /// Whether the options or the environment name any key.
    var namesKey: Bool { ((try? namedKey) ?? nil) != nil }

    /// The path of the key file, if the key is one.
    var keyFileInUse: String? {
        if case .keyFile(let path)? = (try? namedKey) ?? nil { path } else { nil }
    }

    /// The named key. If there is none and a person is there, asks for a passphrase.
    ///
    /// - Parameter isNew: asks twice, because a new passphrase cannot be checked.
    func keySource(_ reader: inout SecretReader, isNew: Bool) throws -> KeySource {
        switch try namedKey {
        case .keyFile(let path): return .keyFile(path)
        case .line(.descriptor(let descriptor)): return .descriptor(descriptor)
        case .line(let source): return .keyLine(KeyLine(try reader.read("Key", for: .openingVault, from: source)))
        case .environment:
            defer { SecretFiles.forgetVariable(Environment.key) }
            return .keyLine(KeyLine(environment(Environment.key) ?? ""))
        case .credential(let name): return .credential(name)
        case .command(let arguments): return .command(arguments)
        case .wrapped(let arguments): return .wrapped(by: arguments)
        case .identity(let path): return .identity(path)
        case .passphrase(let source): return try passphrase(&reader, from: source, isNew: isNew)
        case nil: break
        }
        guard invocation.console.inputIsTerminal else {
            let environment = invocation.console.environment
            let isUnset = options.allowEnvironmentKey && environment[Environment.key] == nil
            throw Failure(
                .keyMissing, "no key specified",
                hints: (isUnset ? ["--allow-environment-key reads \(Environment.key), which is not set"] : [])
                    + Environment.slips(environment, Self.keyVariables.map(\.name) + [Environment.key]) + [
                        isNew
                            ? "--key-file PATH makes a key file there, if there is none yet; --passphrase-file PATH reads "
                                + "a passphrase instead"
                            : "use --key-file PATH or --passphrase-file PATH, set TOKENVAULT_KEY_FILE, or name it in a "
                                + "configuration file"
                    ])
        }
        return .passphrase(
            Passphrase(
                try isNew ? newPassphrase(&reader) : reader.read("Passphrase", for: .openingVault, from: .prompt)))
    }

    private func passphrase(
        _ reader: inout SecretReader, from source: SecretSource, isNew: Bool
    ) throws -> KeySource {
        if isNew, reader.prompts(for: source) { return .passphrase(Passphrase(try newPassphrase(&reader))) }
        let text = try reader.read("Passphrase", for: isNew ? .newPassphrase : .openingVault, from: source)
        if isNew { try Self.checkNewPassphrase(text) }
        return .passphrase(Passphrase(text))
    }

    /// An attacker with a copy of the vault makes guesses at the speed of their own machines.
    private static let leastPassphrase = 8

    /// - Parameter option: the option of the command for a key file instead.
    static func checkNewPassphrase(_ text: String, orFile option: String = "--key-file") throws(Failure) {
        guard !text.contains(where: \.isNewline) else {
            throw .usage(
                "the new passphrase has more than one line", hint: "give it alone, as one line: it is typed that way")
        }
        guard !text.allSatisfy(\.isWhitespace) else {
            throw .usage("the new passphrase is blank", hint: "use several random words, or a key file: \(option) PATH")
        }
        guard text.count >= leastPassphrase else {
            throw .usage(
                "the new passphrase is shorter than \(leastPassphrase) characters",
                hint: "use several random words, or a key file: \(option) PATH")
        }
    }

    /// Asks for it twice.
    func newPassphrase(_ reader: inout SecretReader, orFile option: String = "--key-file") throws -> String {
        let first = try reader.read("New passphrase", for: .newPassphrase, from: .prompt)
        try Self.checkNewPassphrase(first, orFile: option)
        let second = try reader.prompt("Repeat the new passphrase")
        guard first == second else { throw Failure.usage("the passphrases do not match", hint: "try again") }
        return first
    }
}
