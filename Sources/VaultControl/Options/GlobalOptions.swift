import ArgumentParser

/// What every command on a vault takes. `TOKENVAULT_VAULT` and the like, and then the configuration file, stand in for what
/// is not given.
struct GlobalOptions: ParsableArguments {
    /// Of their section in the help.
    static let title = "Options of all commands"

    @Option(help: .init("The vault file (or TOKENVAULT_VAULT).", valueName: "path"), completion: .file())
    var vault: String?

    @OptionGroup var key: SecretOptions<KeyLineKind>

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

    @OptionGroup var passphrase: SecretOptions<PassphraseKind>

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
            "The file that names each login before its refresh token is sent (or TOKENVAULT_WITNESS_LOG).",
            valueName: "path"), completion: .file())
    var witnessLog: String?

    @Option(
        help: .init(
            "The configuration file (or TOKENVAULT_CONFIG); else ~/.config/tokenvault/vaultctl.toml or that of /etc.",
            valueName: "path"),
        completion: .file())
    var config: String?

    @OptionGroup var output: OutputOptions

    var json: Bool { output.json }
}
