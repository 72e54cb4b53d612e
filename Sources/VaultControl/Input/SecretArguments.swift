/// Refuses secrets on the command line: every user of the machine can read it while the program runs, and the shell
/// keeps it in its history.
enum SecretArguments {
    /// Options that take `-` for standard input.
    private static let known: Set<String> = [
        "--access-token", "--also-passphrase", "--client-secret", "--code", "--initial-access-token", "--key",
        "--new-passphrase", "--passphrase", "--proven-by-passphrase", "--refresh-token", "--second-client-secret",
        "--signing-key", "--target-passphrase",
    ]
    /// Options whose value would be a secret, also those of other programs.
    private static let names = known.union([
        "--bearer", "--code-verifier", "--device-code", "--dpop-key", "--id-token", "--password", "--private-key",
        "--secret", "--token",
    ])

    /// Whether the option's value would be a secret.
    static func isSecret(_ option: String) -> Bool { names.contains(option) }

    /// Whether the text is a key, where a file of it is expected.
    static func isKey(_ text: String) -> Bool {
        let text = text.drop { $0.isWhitespace || "\"'".contains($0) }
        return text.hasPrefix("tokenvault-key-1 ") || text.uppercased().hasPrefix("AGE-SECRET-KEY-")
            || text.hasPrefix("-----BEGIN ") && text.contains("PRIVATE KEY")
    }

    /// Options that refuse an identity with a sentence of their own, without showing it.
    private static let recipients: Set<String> = ["--backup-for", "--for", "--recipient"]

    static func check(_ arguments: [String]) throws(Failure) {
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return }
            let name = String(argument.prefix { $0 != "=" })
            let previous = index > 0 ? arguments[index - 1] : ""
            let isValue = name.hasPrefix("--") && name != argument
            let option = isValue ? name : previous.hasPrefix("--") ? previous : "the command line"
            if isKey(isValue ? String(argument.dropFirst(name.count + 1)) : argument), !recipients.contains(option) {
                throw keyAsArgument(option)
            }
            if option != callback, isCallback(argument, after: previous), !arguments.contains("request") {
                throw callbackAsArgument
            }
            guard names.contains(name) || name == callback else { continue }
            let hasValue = name != argument
            let following = hasValue ? String(argument.dropFirst(name.count + 1)) : arguments.dropFirst(index + 1).first
            guard let following, following != "-", hasValue || !following.hasPrefix("--"),
                name != callback || holdsCode(following)
            else { continue }
            if name == callback, !arguments.contains("complete") { throw callbackAsArgument }
            if known.contains(name), let kind = FileKind(following), kind != .directory {
                throw Failure(
                    .usage, code: "secretArgument", "\(Printable.path(following)) (\(name)) is the name of a file",
                    hints: ["read the file: \(name)-file \(Printable.path(following))"])
            }
            throw refusal(of: name, arguments)
        }
    }

    private static let callback = "--callback-url"

    /// Whether a callback URL contains a code, in whatever spelling: even a refused or forged URL may contain one.
    private static func holdsCode(_ url: String) -> Bool {
        url.split(whereSeparator: { "?&#".contains($0) }).contains { $0.hasPrefix("code=") && $0 != "code=" }
    }

    /// A callback URL at another command. As an option's value it has a state, too: a webhook's address may have a code of
    /// its own.
    private static func isCallback(_ argument: String, after previous: String) -> Bool {
        guard argument.contains("://") else { return false }
        let names = Set(argument.split(whereSeparator: { "?&#".contains($0) }).map { $0.prefix { $0 != "=" } })
        let isAnswer = holdsCode(argument) || names.contains("access_token") || names.contains("id_token")
        return isAnswer && (names.contains("state") || !previous.hasPrefix("-") && !argument.hasPrefix("-"))
    }

    private static var callbackAsArgument: Failure {
        Failure(
            .usage, code: "secretArgument",
            "a callback URL is not accepted on the command line, where others can read what it contains",
            hints: [
                "a log-in is completed by: vaultctl login complete --callback-url -, which reads it from standard input",
                "assume that others have seen the URL you just gave",
            ])
    }

    /// Standard input and descriptors provide one secret each: what the first of two readers leaves would be nonsense.
    static func checkStreams(_ arguments: [String]) throws(Failure) {
        var readers: [Int32: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            let name = String(argument.prefix { $0 != "=" })
            guard name.hasPrefix("--"), let secret = secret(of: name),
                let value = name == argument ? rest.first : String(argument.dropFirst(name.count + 1)),
                let descriptor = descriptor(value, isNumber: name.hasSuffix("-fd"))
            else { continue }
            if let first = readers[descriptor] {
                throw .usage(
                    "only one secret can be read from \(descriptor == 0 ? "standard input" : "descriptor \(descriptor)"): "
                        + "\(first) or \(name)",
                    hint: secret == callback
                        ? "use a file or a descriptor for \(first)"
                        : "use a file or another descriptor: \(secret)-file PATH, \(secret)-fd NUMBER")
            }
            readers[descriptor] = name
        }
    }

    /// The option without the suffix that names its source; nil if it reads no secret.
    private static func secret(of name: String) -> String? {
        if known.contains(name) || name == callback { return name }
        for suffix in ["-file", "-fd"]
        where name.hasSuffix(suffix) && known.contains(String(name.dropLast(suffix.count))) {
            return String(name.dropLast(suffix.count))
        }
        return nil
    }

    private static func descriptor(_ value: String, isNumber: Bool) -> Int32? {
        if isNumber { return Int32(value) }
        if value == "-" || value == "/dev/stdin" { return 0 }
        for front in ["/dev/fd/", "/proc/self/fd/"] where value.hasPrefix(front) {
            return Int32(value.dropFirst(front.count))
        }
        return nil
    }

    private static func keyAsArgument(_ option: String) -> Failure {
        Failure(
            .usage, code: "secretArgument",
            "\(option) has a key itself, where others can read it, and not a file's path",
            hints: [
                "write the key into a private file, and name that", "assume that others have seen the key: replace it",
            ])
    }

    /// A missing file whose name is more likely the secret itself: one word without a directory and an ending, or
    /// several words. It is not shown.
    static func mayBeSecret(_ path: String) -> Bool {
        guard !path.contains("/") else { return false }
        if path.contains(" ") { return true }
        let ending = path.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        let hasEnding = (1...8).contains(ending.count) && ending.allSatisfy(\.isLetter)
        return path.count >= 16 && !hasEnding
    }

    /// The options of ours that other programs' options mean.
    private static let usual = [
        "--bearer": "--access-token-file", "--token": "--access-token-file", "--private-key": "--client-key-file",
        "--secret": "--client-secret-file", "--password": "--passphrase-file",
    ]

    private static func refusal(of name: String, _ arguments: [String]) -> Failure {
        let isNewOne = name == "--passphrase" && arguments.starts(with: ["key", "add"])
        let instead =
            isNewOne
            ? "--passphrase opens the vault; a new one is asked for, or use: --new-passphrase-file PATH, "
                + "--new-passphrase-fd NUMBER, or --new-passphrase - for standard input"
            : name == callback
                ? "leave it out to be prompted, or use: --callback-url - for standard input"
                : known.contains(name)
                    ? "leave it out to be prompted, or use: \(name)-file PATH, \(name)-fd NUMBER, or \(name) - for standard input"
                    : usual[name].map { "a command that takes it reads it from a file: \($0) PATH" }
                        ?? "secrets come from a prompt, standard input, a file or a file descriptor; see the command's --help"
        return Failure(
            .usage, code: "secretArgument",
            "\(name) does not accept a secret on the command line, where others can read it",
            hints: [instead, "assume that others have seen the value you just gave"])
    }

    /// `message` without arguments that might be secrets: the parser quotes what it does not understand.
    static func redact(_ message: String, arguments: [String]) -> String {
        arguments.reduce(message) { message, argument in
            let isName = argument.hasPrefix("-") && !argument.contains("=")
            guard argument.count >= 16, !isName else { return message }
            return message.replacing(argument, with: argument.prefix(4) + "…")
        }
    }
}
