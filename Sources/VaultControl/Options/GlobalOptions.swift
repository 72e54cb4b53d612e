import ArgumentParser

/// Options of every command that uses a vault. `TOKENVAULT_VAULT` and similar variables, and then the configuration
/// file, replace omitted options.
///
/// It contains no option groups: in a debug build the parser checks each group several times, and nested groups several
/// times each.
struct GlobalOptions: ParsableArguments, OutputChoice {
    /// The title of their section in the help.
    static let title = "Options of all commands"

    @Option(help: .init("The vault file (or TOKENVAULT_VAULT).", valueName: "path"), completion: .file())
    var vault: String?

    @Option(dashOf: KeyLineKind.self) var keyDash: String?
    @Option(fileOf: KeyLineKind.self) var keyFile: String?
    @Option(descriptorOf: KeyLineKind.self) var keyDescriptor: Int32?

    @Option(
        help: .init(
            "The systemd credential that holds the key file, from LoadCredential= (or TOKENVAULT_CREDENTIAL).",
            valueName: "name"))
    var credential: String?

    @Option(
        help: .init(
            "The program that prints the key file's line, as a JSON array (or TOKENVAULT_KEY_COMMAND).",
            valueName: "json"))
    var keyCommand: String?

    @Option(
        help: .init(
            "The program that unwraps a wrapped key, as a JSON array (or TOKENVAULT_WRAP_COMMAND).", valueName: "json"))
    var wrapCommand: String?

    @Flag(help: "Take the key file's line from TOKENVAULT_KEY, where other programs of this user can read it.")
    var allowEnvironmentKey = false

    @Option(
        help: .init("The file with the age identity that opens it (or TOKENVAULT_IDENTITY).", valueName: "path"),
        completion: .file())
    var identity: String?

    @Option(dashOf: PassphraseKind.self) var passphraseDash: String?
    @Option(fileOf: PassphraseKind.self) var passphraseFile: String?
    @Option(descriptorOf: PassphraseKind.self) var passphraseDescriptor: Int32?

    @Option(
        help: .init(
            "The most memory that checking a passphrase may use (or TOKENVAULT_PASSPHRASE_MEMORY_LIMIT).",
            valueName: "size"))
    var passphraseMemoryLimit: ByteCount?

    @Option(
        help: .init(
            "Also trust the certificate authorities in a PEM file (or TOKENVAULT_CA_FILE).", valueName: "path"),
        completion: .file())
    var caFile: String?

    @Option(
        help: .init(
            "The HTTP proxy through which providers are reached (or TOKENVAULT_PROXY).", valueName: "url"))
    var proxy: String?

    @Option(
        help: .init(
            "The private file with USER:PASSWORD for the proxy (or TOKENVAULT_PROXY_CREDENTIALS_FILE).",
            valueName: "path"),
        completion: .file())
    var proxyCredentialsFile: String?

    @Flag(
        help:
            "Trust a file system not known to be local; no other machine may use it (or TOKENVAULT_TRUST_FILE_SYSTEM=1)."
    )
    var trustFileSystem = false

    @Option(
        help: .init(
            "The file, apart from the vault, that remembers its newest state (or TOKENVAULT_WITNESS).",
            valueName: "path"), completion: .file())
    var witness: String?

    @Option(
        help: .init(
            "The program that remembers it instead, as a JSON array (or TOKENVAULT_WITNESS_COMMAND).", valueName: "json"
        ))
    var witnessCommand: String?

    @Option(
        help: .init(
            "The file that names each login before its refresh token is sent (or TOKENVAULT_WITNESS_LOG).",
            valueName: "path"), completion: .file())
    var witnessLog: String?

    @Option(
        help: .init(
            "The configuration file (or TOKENVAULT_CONFIG); else ~/.config/tokenvault/vaultctl.toml or that of /etc.",
            valueName: "path"),
        completion: .file())
    var config: String?

    @Flag(.json) var json = false
    @Flag(.quiet) var quiet = false
    @Option(.logFormat) var logFormat: LogFormat?
    @Flag(.verbose) var verbose = false

    func validate() throws { try checkOutput() }

    /// Nil if no option names one.
    var key: SecretSource? {
        get throws(Failure) {
            try .chosen(KeyLineKind.option, dash: keyDash, descriptor: keyDescriptor, file: keyFile)
        }
    }

    /// Nil if no option names one.
    var passphrase: SecretSource? {
        get throws(Failure) {
            try .chosen(
                PassphraseKind.option, dash: passphraseDash, descriptor: passphraseDescriptor, file: passphraseFile)
        }
    }
}
