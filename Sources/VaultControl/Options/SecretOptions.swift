import ArgumentParser

/// A secret from any source but the command line: `--NAME -`, `--NAME-file`, `--NAME-fd`.
struct SecretOptions<Kind: SecretKind>: ParsableArguments {
    @Option(dashOf: Kind.self) var dash: String?
    @Option(fileOf: Kind.self) var file: String?
    @Option(descriptorOf: Kind.self) var descriptor: Int32?

    /// Nil if no option names one.
    var source: SecretSource? {
        get throws(Failure) { try .chosen(Kind.option, dash: dash, descriptor: descriptor, file: file) }
    }

    var isGiven: Bool { dash != nil || file != nil || descriptor != nil }
}

extension Option where Value == String? {
    init(dashOf kind: (some SecretKind).Type) {
        self.init(
            name: .customLong(kind.option),
            help: .init("- reads the \(kind.title) from standard input.", valueName: "-", visibility: .hidden))
    }

    init(fileOf kind: (some SecretKind).Type) {
        self.init(
            name: .customLong("\(kind.option)-file"),
            help: .init(
                "Read the \(kind.title) from a file\(kind.fileNote); --\(kind.option) - reads standard input.",
                valueName: "path"),
            completion: .file())
    }
}

extension Option where Value == Int32? {
    init(descriptorOf kind: (some SecretKind).Type) {
        self.init(
            name: .customLong("\(kind.option)-fd"),
            help: .init("Read the \(kind.title) from an open file descriptor.", valueName: "number"))
    }
}

/// The secret that the options name.
protocol SecretKind {
    /// Such as `access-token`.
    static var option: String { get }
    /// Its name in the help.
    static var title: String { get }
    /// Other ways to name the file.
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

/// The line of a key file, which opens the vault.
enum KeyLineKind: SecretKind {
    static let option = "key"
    static let title = "vault's key"
    static let fileNote = ", the key file (or TOKENVAULT_KEY_FILE)"
}

/// A passphrase that opens the vault.
enum PassphraseKind: SecretKind {
    static let option = "passphrase"
    static let title = "vault's passphrase"
    static let fileNote = " (or TOKENVAULT_PASSPHRASE_FILE)"
}

enum NewPassphraseKind: SecretKind {
    static let option = "new-passphrase"
}

/// A passphrase that opens the vault, and still does when another key is removed.
enum ProvenPassphraseKind: SecretKind {
    static let option = "proven-by-passphrase"
    static let title = "passphrase that stays"
}

/// A passphrase that opens the vault that another one is moved to.
enum TargetPassphraseKind: SecretKind {
    static let option = "target-passphrase"
    static let title = "target's passphrase"
}

/// A passphrase that opens the vault, and still does when the vault key is replaced.
enum AlsoPassphraseKind: SecretKind {
    static let option = "also-passphrase"
    static let title = "passphrase that stays"
}
