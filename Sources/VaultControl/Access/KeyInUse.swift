import Platform
import TokenVault

/// A key as errors name it: its kind, its path and the setting that named it.
struct KeyInUse {
    let key: NamedKey
    /// An option, a variable, or a line of the configuration file.
    let origin: String

    init(_ key: NamedKey, from origin: String) { (self.key, self.origin) = (key, origin) }

    /// The file that the key comes from, and its noun in errors.
    var file: (noun: String, path: String)? {
        switch key {
        case .keyFile(let path): ("key file", path)
        case .line(.file(let path, _)): ("key file", path)
        case .identity(let path): ("identity file", path)
        case .passphrase(.file(let path, _)): ("passphrase file", path)
        default: nil
        }
    }

    /// An argument of the key program that looks like a file of the current directory: the program would search for it
    /// in `/`.
    var relativeFile: String? {
        switch key {
        case .command(let arguments), .wrapped(let arguments):
            arguments.dropFirst().first {
                !$0.isEmpty && !"/-{[".contains($0.prefix(1)) && !$0.contains("://")
                    && ($0.contains(".") || NamedFile($0).exists)
            }
        default: nil
        }
    }

    /// Without its path and its source.
    var noun: String {
        switch key {
        case .keyFile: "the key file"
        case .identity: "the identity"
        case .passphrase: "the passphrase"
        case .wrapped(let arguments): "the key that \(Printable.path(arguments.first ?? "")) unwraps"
        case .line, .environment, .credential, .command: "this key"
        }
    }

    /// For a sentence.
    var words: String {
        if let file {
            let noun =
                file.noun == "passphrase file" ? "passphrase in" : file.noun == "key file" ? file.noun : "identity"
            return "the \(noun) \(Printable.path(file.path)) (\(origin))"
        }
        return switch key {
        case .passphrase(.prompt): "this passphrase"
        case .passphrase: "the passphrase (\(origin))"
        case .credential(let name): "the credential \(Printable.named(name)) (\(origin))"
        case .command(let arguments): "the key that \(Printable.path(arguments.first ?? "")) prints (\(origin))"
        case .wrapped(let arguments): "the key that \(Printable.path(arguments.first ?? "")) unwraps (\(origin))"
        default: "the key (\(origin))"
        }
    }
}
