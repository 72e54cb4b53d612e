import FoundationEssentials
import SettingsText
import TokenVault
import TokenVaultPostgreSQL

/// A setting of the configuration file: it replaces a variable, and so an option.
struct ConfigurationSetting: Sendable {
    enum Kind: Sendable {
        /// An absolute path.
        case path
        /// An absolute path, or a connection string.
        case place
        case text
        /// A program and its arguments.
        case program
        case size
        case flag
        /// One of these words.
        case choice([String])
    }

    /// The option's name without its hyphens.
    let name: String
    let kind: Kind
    /// The thing that it names, if only one setting may name it.
    var names: Named?

    enum Named: String, CaseIterable {
        /// The vault's key.
        case key
        /// The witness of the vault's newest state.
        case witness
    }

    /// `key-file` replaces `TOKENVAULT_KEY_FILE`.
    var variable: String { "TOKENVAULT_" + name.uppercased().replacing("-", with: "_") }

    static let all = [
        ConfigurationSetting(name: "vault", kind: .place),
        ConfigurationSetting(name: "key-file", kind: .path, names: .key),
        ConfigurationSetting(name: "credential", kind: .text, names: .key),
        ConfigurationSetting(name: "key-command", kind: .program, names: .key),
        ConfigurationSetting(name: "wrap-command", kind: .program, names: .key),
        ConfigurationSetting(name: "identity", kind: .path, names: .key),
        ConfigurationSetting(name: "passphrase-file", kind: .path, names: .key),
        ConfigurationSetting(name: "passphrase-memory-limit", kind: .size),
        ConfigurationSetting(name: "ca-file", kind: .path),
        ConfigurationSetting(name: "proxy", kind: .text),
        ConfigurationSetting(name: "proxy-credentials-file", kind: .path),
        ConfigurationSetting(name: "trust-file-system", kind: .flag),
        ConfigurationSetting(name: "witness", kind: .path, names: .witness),
        ConfigurationSetting(name: "witness-command", kind: .program, names: .witness),
        ConfigurationSetting(name: "witness-log", kind: .path),
        ConfigurationSetting(name: "log-format", kind: .choice(["text", "json"])),
    ]

    static func find(_ name: String, column: Int) throws(SettingsProblem) -> ConfigurationSetting {
        if let setting = all.first(where: { $0.name == name }) { return setting }
        if SecretArguments.isSecret("--" + name) {
            throw SettingsProblem(
                "a secret does not belong in this file",
                hint: "name where it is: key-file, credential, key-command or passphrase-file", column: column)
        }
        let meant = all.first { $0.variable == name.uppercased() || $0.variable == "TOKENVAULT_" + name.uppercased() }
        let near = isLikeAName(name) ? EditDistance.near(name, among: all.map(\.name)) : []
        throw SettingsProblem(
            isLikeAName(name) || meant != nil
                ? "there is no setting \(Printable.shortened(name))" : "this is no line of a configuration file",
            hint: meant.map { "its name here is: \($0.name)" } ?? near.first.map { "did you mean: \($0)" }
                ?? "the settings are: \(all.map(\.name).joined(separator: ", "))", column: column)
    }

    /// Whether a word may be shown: the file may be another one, such as a token's.
    static func isLikeAName(_ word: String) -> Bool {
        word.utf8.count <= 24
            && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F }
    }

    /// The value as its variable would hold it; throws a problem if the variable could not.
    func text(of value: SettingsValue) throws(SettingsProblem) -> String {
        if case .text(let text) = value, SecretArguments.isKey(text) {
            throw SettingsProblem(
                "\(name) has a key itself, and not a file's path",
                hint: "write the key into a private file, and name that; the configuration file holds no secret")
        }
        switch (kind, value) {
        case (.path, .text(let path)):
            guard path.hasPrefix("/") else {
                throw SettingsProblem("\(name) is not an absolute path", hint: "begin the path with /")
            }
            return path
        case (.place, .text(let place)):
            guard place.hasPrefix("/") || VaultLocation.isPostgreSQL(place) else {
                throw SettingsProblem(
                    "\(name) is not an absolute path",
                    hint: "begin the path with /, or the address of a server with postgresql://")
            }
            return place
        case (.text, .text(let text)):
            guard !text.isEmpty else { throw SettingsProblem("\(name) is empty") }
            if name == "proxy" { try Self.refuseCredentials(in: text) }
            return text
        case (.size, .text(let text)):
            guard ByteCount(argument: text) != nil else {
                throw SettingsProblem("\(name) is not a size", hint: "use a size such as \"512M\" or \"2G\"")
            }
            return text
        case (.program, .texts(let arguments)):
            guard arguments.first?.hasPrefix("/") == true else {
                throw SettingsProblem(
                    "\(name) does not begin with an absolute path",
                    hint: "for example: \(name) = [\"/usr/bin/pass\", \"show\", \"vault-key\"]")
            }
            return JSONValue.array(arguments.map(JSONValue.string)).text
        case (.choice(let words), .text(let word)):
            guard words.contains(word) else {
                throw SettingsProblem(
                    "\(name) is none of \(words.joined(separator: ", "))", hint: "for example: \(example)")
            }
            return word
        case (.flag, .flag(let isSet)):
            return isSet ? "1" : "0"
        default:
            throw SettingsProblem("\(name) does not take this value", hint: "for example: \(example)")
        }
    }

    private static func refuseCredentials(in proxy: String) throws(SettingsProblem) {
        guard proxy.contains("@") else { return }
        throw SettingsProblem(
            "a secret does not belong in this file", hint: "put USER:PASSWORD into proxy-credentials-file")
    }

    var example: String {
        switch kind {
        case .place: "\(name) = \"/var/lib/app/app.vault\""
        case .path: "\(name) = \"/etc/tokenvault/\(name)\""
        case .text: "\(name) = \"vault.key\""
        case .program:
            "\(name) = \(names == .witness ? ProgramArguments.witness : ProgramArguments.key)"
        case .size: "\(name) = \"512M\""
        case .flag: "\(name) = true"
        case .choice(let words): "\(name) = \"\(words.last ?? "")\""
        }
    }
}
