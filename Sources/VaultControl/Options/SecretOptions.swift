import ArgumentParser

/// A secret, from anywhere but the command line: `--NAME -`, `--NAME-file`, `--NAME-fd`.
struct SecretOptions<Kind: SecretKind>: ParsableArguments {
    @Option(
        name: .customLong(Kind.option),
        help: .init("- reads the \(Kind.title) from standard input.", valueName: "-", visibility: .hidden))
    var dash: String?

    @Option(
        name: .customLong("\(Kind.option)-file"),
        help: .init(
            "Read the \(Kind.title) from a file\(Kind.fileNote); --\(Kind.option) - reads standard input.",
            valueName: "path"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("\(Kind.option)-fd"),
        help: .init("Read the \(Kind.title) from an open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    /// Nil if no option names one.
    var source: SecretSource? {
        get throws(Failure) { try .chosen(Kind.option, dash: dash, descriptor: descriptor, file: file) }
    }

    var isGiven: Bool { dash != nil || file != nil || descriptor != nil }
}

/// Which secret the options name.
protocol SecretKind {
    /// Such as `access-token`.
    static var option: String { get }
    /// How the help names it.
    static var title: String { get }
    /// What else can name the file.
    static var fileNote: String { get }
}

extension SecretKind {
    static var title: String { option.replacing("-", with: " ") }
    static var fileNote: String { "" }
}

enum AccessTokenKind: SecretKind {
    static let option = "access-token"
}

enum RefreshTokenKind: SecretKind {
    static let option = "refresh-token"
}

enum ClientSecretKind: SecretKind {
    static let option = "client-secret"
}

enum CodeKind: SecretKind {
    static let option = "code"
}

/// Opens the vault: the line of a key file.
enum KeyLineKind: SecretKind {
    static let option = "key"
    static let title = "vault's key"
    static let fileNote = ", the key file (or TOKENVAULT_KEY_FILE)"
}

/// Opens the vault.
enum PassphraseKind: SecretKind {
    static let option = "passphrase"
    static let title = "vault's passphrase"
    static let fileNote = " (or TOKENVAULT_PASSPHRASE_FILE)"
}

enum NewPassphraseKind: SecretKind {
    static let option = "new-passphrase"
}

/// Opens the vault, and keeps doing so when another key is removed.
enum ProvenPassphraseKind: SecretKind {
    static let option = "proven-by-passphrase"
    static let title = "passphrase that stays"
}

/// Opens the vault, and keeps doing so when the vault key is replaced.
enum AlsoPassphraseKind: SecretKind {
    static let option = "also-passphrase"
    static let title = "passphrase that stays"
}
