import ArgumentParser
import Platform
import TokenVault

/// The options and arguments of a command line, as the parser will read them.
struct GivenArguments {
    struct Given {
        let taken: CommandShape.Taken
        let value: String?
    }

    /// The command, without `vaultctl`.
    let words: [String]
    private(set) var all: [Given] = []
    /// Words after a command that takes none.
    private(set) var superfluous: [String] = []
    /// The first option that the command does not have.
    private(set) var unknown: String?

    /// - Parameter arguments: with the command in front. Nil if they name no command.
    init?(_ arguments: [String]) {
        var words: [String] = []
        while let next = arguments.dropFirst(words.count).first, CommandTree.command(words + [next]) != nil {
            words.append(next)
        }
        guard !words.isEmpty, let command = CommandTree.command(words), command.runsByItself
        else { return nil }
        self.words = words
        let shape = CommandShape(of: command)
        var (rest, position) = (arguments.dropFirst(words.count), 0)
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("-"), argument != "-" else {
                let places = shape.positionals
                if let taken = places.dropFirst(position).first ?? places.last {
                    all.append(Given(taken: taken, value: argument))
                } else {
                    superfluous.append(argument)
                }
                position += 1
                continue
            }
            let name = String(argument.prefix { $0 != "=" })
            guard let taken = shape[name] else {
                let isOption = name.hasPrefix("--") && name.count > 2 && name != "--help"
                let letter = name.dropFirst().first
                let isShort = !name.hasPrefix("--") && letter?.isLetter == true && shape["-\(letter ?? "-")"] == nil
                if shape["-" + name] != nil || isShort && name != "-h" { unknown = unknown ?? name }
                if isOption, !name.hasPrefix("--experimental"), !name.hasPrefix("--generate") {
                    unknown = unknown ?? name
                }
                continue
            }
            if name != argument {
                all.append(Given(taken: taken, value: String(argument.dropFirst(name.count + 1))))
            } else if taken.takesValue, let value = rest.first, !value.hasPrefix("--") {
                all.append(Given(taken: taken, value: value))
                rest = rest.dropFirst()
            } else {
                all.append(Given(taken: taken, value: nil))
            }
        }
    }

    /// The value of an option or an argument with this title, such as `--user` or `ID`.
    func value(of title: String) -> String? { all.last { $0.taken.title == title }?.value }

    /// A user's or a provider's name with the tenant that the command line names.
    func qualified(_ name: String) -> String {
        value(of: "--tenant").flatMap { Tenant($0) }?.qualify(name) ?? name
    }
}

extension GivenArguments {
    /// Refuses empty values, which a script's unset variable leaves behind, and a repeated option, of which the parser
    /// would use the last.
    ///
    /// - Parameter home: what a shell would have replaced a ~ by.
    static func check(_ arguments: [String], home: String?) throws(Failure) {
        try refuseDash(arguments)
        guard isOdd(arguments), let given = GivenArguments(arguments) else { return }
        for argument in given.all {
            let isBlank = argument.taken.title == "--scope" && argument.value?.allSatisfy(\.isWhitespace) == true
            if argument.value == "" || isBlank { try given.refuseEmpty(argument.taken) }
            try refusePasted(argument)
            try given.refuseBlank(argument)
            try given.refuseBlankName(argument)
            try given.refuseSlip(argument, home)
        }
        try given.refuseRepeatedNames()
        let flags = Set(arguments.prefix { $0 != "--" })
        for flag in flags
        where flag.hasPrefix("--no-") && flag != given.unknown && flags.contains("--" + flag.dropFirst("--no-".count)) {
            throw .usage(
                "--\(flag.dropFirst("--no-".count)) and \(flag) cannot be combined", hint: "use only one of them")
        }
        var seen: Set<String> = []
        for argument in given.all where argument.taken.takesValue && !argument.taken.isRepeating {
            guard seen.insert(argument.taken.title).inserted else {
                throw .usage(
                    "\(argument.taken.title) is given more than once",
                    hint: argument.taken.title == "--scope"
                        ? "scopes go into one value, separated by blanks: --scope 'read write'"
                        : "it takes one value: leave the others out; vaultctl \(given.words.joined(separator: " ")) --help "
                            + "says which options are repeatable")
            }
        }
    }

    /// Only one of two values of a name would be sent, or searched for; and a recipient who is named twice stands where
    /// another one was meant.
    private func refuseRepeatedNames() throws(Failure) {
        var seen: Set<String> = []
        for given in all {
            let isRecipient = ["age1...", "recipient"].contains(given.taken.valueName)
            guard let value = given.value, given.taken.isRepeating,
                isRecipient || ["--parameter", "--metadata", "--variable"].contains(given.taken.title)
            else { continue }
            let name = isRecipient ? value : String(value.prefix { $0 != "=" })
            guard seen.insert("\(given.taken.title) \(name)").inserted else {
                throw .usage(
                    "\(given.taken.title) names \(Printable.named(name, to: 80)) more than once",
                    hint: isRecipient ? "leave the others out" : "a name has one value: leave the others out")
            }
        }
    }

    /// Whether it is worth asking the parser.
    private static func isOdd(_ arguments: [String]) -> Bool {
        var seen: Set<String> = []
        for argument in arguments {
            if argument == "--" { return false }
            if argument.isEmpty || argument.hasPrefix("--no-") || hasBlankAtEnd(argument) || hasSlip(argument) {
                return true
            }
            guard argument.hasPrefix("-"), argument.count > 1 else { continue }
            let name = String(argument.prefix { $0 != "=" })
            let value = argument.dropFirst(name.count + 1)
            if name != argument, value.isEmpty || value.first?.isWhitespace == true || hasSlip(String(value)) {
                return true
            }
            if !seen.insert(OptionNames.short[name] ?? name).inserted { return true }
        }
        return false
    }

    private func refuseEmpty(_ taken: CommandShape.Taken) throws(Failure) {
        let name = taken.title
        // An empty body is valid. The other options have better errors, which also name alternatives.
        let told = ["--data", "--vault", "--key-file", "--passphrase-file", "--ca-file"]
        guard !told.contains(name) || words == ["init"] else { return }
        let check = "in a script, check that its variable is set"
        guard taken.takesValue else { throw .usage("\(name) is empty", hint: check) }
        throw ["path", "file", "directory"].contains(taken.valueName)
            ? .usage(
                "the path of \(name) is empty",
                hint: "name a \(taken.valueName == "directory" ? "directory" : "file"); \(check)")
            : .usage("the value of \(name) is empty", hint: removal(name) ?? check)
    }

    /// `provider update acme --scope ''`
    private func removal(_ name: String) -> String? {
        let field = String(name.drop { $0 == "-" })
        guard words == ["provider", "update"], ProviderUpdateOptions.Removable(rawValue: field) != nil else {
            return nil
        }
        return "to take it away: --remove \(field); in a script, check that its variable is set"
    }

    private static func hasBlankAtEnd(_ text: String) -> Bool {
        text.first?.isWhitespace == true || text.last?.isWhitespace == true
    }

    /// A URL or a client's id has no blank and no quotation mark at its ends, but copied text often has.
    private static func refusePasted(_ given: Given) throws(Failure) {
        guard let value = given.value, let kind = given.taken.valueName,
            ["url", "uri", "origin", "age1...", "recipient"].contains(kind) || given.taken.title == "--client-id"
        else { return }
        let what = "the \(given.taken.takesValue ? "value of " : "")\(given.taken.title)"
        if hasBlankAtEnd(value) { throw blank(what, value) }
        // The URL of a callback may contain a code.
        guard given.taken.title != "--callback-url", let rest = PathProblem.unquoted(value) else { return }
        throw .usage(
            "\(what) has quotation marks around it: \(Printable.path(value))",
            hint: "write it without: \(Printable.path(rest))")
    }

    /// - Parameters:
    ///   - what: such as `the name`.
    ///   - advice: for a text that is nothing but blanks.
    private static func blank(
        _ what: String, _ text: String, advice: String = "in a script, check that its variable is set"
    ) -> Failure {
        let rest = PathProblem.trimmed(text)
        guard !rest.isEmpty else { return .usage("\(what) is blank", hint: advice) }
        return .usage(
            "\(what) begins or ends with a blank: \(Printable.named(text, to: 200))",
            hint: "write it without: \(Printable.shortened(rest, to: 200))")
    }

    /// The operator chooses these names, and types them again: a blank at an end would make another one.
    private func refuseBlankName(_ given: Given) throws(Failure) {
        guard let name = given.value, Self.hasBlankAtEnd(name), !name.allSatisfy(\.isWhitespace),
            !name.contains(where: \.isNewline)
        else { return }
        let isNew =
            switch words.joined(separator: " ") {
            case "provider add", "provider register": given.taken.kind == "positional"
            case "import run": given.taken.title == "--name"
            case "export" where given.taken.title == "--to": true
            default: isMade(given)
            }
        guard isNew else { return }
        throw Self.blank("the \(given.taken.takesValue ? "value of \(given.taken.title)" : "name")", name)
    }

    /// A file that would be made under a name that only a slip has.
    private func refuseSlip(_ given: Given, _ home: String?) throws(Failure) {
        guard let path = given.value, Self.hasSlip(path), isMade(given), FileIdentity(path: path) == nil,
            let hint = PathProblem.slip(path, "file", home)
        else { return }
        throw .usage("no file can be made at \(Printable.path(path)) (\(given.taken.title))", hint: hint)
    }

    private static func hasSlip(_ text: String) -> Bool { text.hasPrefix("~") || PathProblem.unquoted(text) != nil }

    /// Whether the command makes a file of this name.
    private func isMade(_ given: Given) -> Bool {
        let title = given.taken.title
        return switch words.joined(separator: " ") {
        case "init" where ["--vault", "--key-file"].contains(title): true
        case "backup restore" where title == "TARGET": true
        case "provider profiles convert" where title == "--to": true
        default: Self.made.contains(title) || ["--out", "--output"].contains(title)
        }
    }

    private static let made = [
        "--certificate", "--metrics-file", "--cursor-file", "--new-key-file", "--witness", "--witness-log",
        "--backup-dir",
    ]

    /// A new label must be visible and easy to type; one to look up may have been set by an app.
    private func refuseBlank(_ given: Given) throws(Failure) {
        guard given.taken.title == "--label", let label = given.value, Self.hasBlankAtEnd(label),
            !all.contains(where: { $0.taken.title == "--label-prefix" }), !isFilter
        else { return }
        throw Self.blank("the value of --label", label, advice: "a label is a word or two: --label phone")
    }

    private var isFilter: Bool { ["login list", "login end", "report"].contains(words.joined(separator: " ")) }

    /// Content that belongs in a file is not written to standard output, and a file named `-` is hard to remove.
    private static func refuseDash(_ arguments: [String]) throws(Failure) {
        let isInit = arguments.first == "init"
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return }
            let name = String(argument.prefix { $0 != "=" })
            guard made.contains(name) || isInit && ["--vault", "--key-file"].contains(name) else { continue }
            let value =
                name == argument ? arguments.dropFirst(index + 1).first : String(argument.dropFirst(name.count + 1))
            guard let value, ["-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/null"].contains(value)
            else { continue }
            throw .usage(
                "\(name) needs a regular file, and \(value) is none",
                hint: value == "/dev/null"
                    ? "name a file: /dev/null keeps nothing" : "name a file: it is not written to standard output")
        }
    }
}
