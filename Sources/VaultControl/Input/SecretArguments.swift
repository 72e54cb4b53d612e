/// Refuses secrets on the command line: every user of the machine can read it while the program runs, and the shell keeps
/// it in its history.
enum SecretArguments {
    /// Options whose value would be a secret.
    private static let names: Set<String> = [
        "--access-token", "--also-passphrase", "--client-secret", "--code", "--code-verifier", "--dpop-key",
        "--id-token", "--key", "--new-passphrase", "--passphrase", "--password", "--private-key",
        "--proven-by-passphrase", "--refresh-token", "--second-client-secret", "--secret", "--token",
    ]
    /// Those that exist, and take `-` for standard input.
    private static let known: Set<String> = [
        "--access-token", "--also-passphrase", "--client-secret", "--code", "--key", "--passphrase",
        "--new-passphrase", "--proven-by-passphrase", "--refresh-token", "--second-client-secret",
    ]

    /// Whether the option's value would be a secret.
    static func isSecret(_ option: String) -> Bool { names.contains(option) }

    static func check(_ arguments: [String]) throws(Failure) {
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return }
            let name = String(argument.prefix { $0 != "=" })
            guard names.contains(name) else { continue }
            let hasValue = name != argument
            let following = hasValue ? String(argument.dropFirst(name.count + 1)) : arguments.dropFirst(index + 1).first
            guard let following, following != "-", hasValue || !following.hasPrefix("--") else { continue }
            throw refusal(of: name)
        }
    }

    private static func refusal(of name: String) -> Failure {
        let instead =
            known.contains(name)
            ? "leave it out to be prompted, or use: \(name)-file PATH, \(name)-fd NUMBER, or \(name) - for standard input"
            : "secrets come from a prompt, standard input, a file or a file descriptor; see the command's --help"
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
