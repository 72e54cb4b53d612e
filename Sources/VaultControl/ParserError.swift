import ArgumentParser
import TokenVault
import VaultAdministration

/// ArgumentParser's errors about a command line, in the program's own style.
struct ParserError {
    let message: String
    let usage: String?
    let arguments: [String]

    /// - Parameter usage: such as `vaultctl login add [<options>] --user <id>`.
    init(_ message: String, usage: String?, _ arguments: [String]) {
        self.message = message
        self.usage = usage
        self.arguments = arguments
    }

    var failure: Failure {
        // The value of an option that takes no secret is shown whole: the mistake may be at its end.
        let text = invalid == nil ? SecretArguments.redact(sentence, arguments: arguments) : sentence
        return Failure(.usage, Printable.shortened(text, to: 400), hints: hints)
    }

    /// `Unknown option '--x'.` without capital and full stop, on one line.
    private var sentence: String {
        if let invalid { return invalid.sentence }
        if isToken { return "a token is not accepted on the command line, where others can read it" }
        if let unknown {
            if late != nil { return "\(unknown.name) comes before the command" }
            if CommandTree.command(words)?.runsByItself == false, !words.isEmpty {
                return "a command is missing between vaultctl \(words.joined(separator: " ")) and \(unknown.name)"
            }
            return "unknown option '\(unknown.name)'" + (unknown.suggestion.map { ". Did you mean '\($0)'?" } ?? "")
        }
        var text = message.prefix(1).lowercased() + message.dropFirst()
        // A list with one item per line.
        let parts = text.split(separator: "\n").map { Self.trimmed($0) }
        var isFirst = true
        text = parts.reduce(into: "") { text, part in
            guard part.hasPrefix("- ") else { return text += (text.isEmpty ? "" : " ") + part }
            text += (isFirst ? " " : ", ") + part.dropFirst(2)
            isFirst = false
        }
        while text.last == "." { text.removeLast() }
        return text
    }

    private static func trimmed(_ line: Substring) -> Substring {
        let start = line.drop { $0 == " " }
        return start.prefix(upTo: start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.endIndex)
    }

    /// An invalid value of an option. A negative number looks like an option to the parser.
    private var invalid: InvalidValue? {
        if let invalid = InvalidValue(message) { return invalid }
        let front = "Missing value for '"
        guard message.hasPrefix(front) else { return nil }
        let option = message.dropFirst(front.count).prefix { $0 != "'" }
        let name = option.prefix { $0 != " " }
        guard let index = arguments.firstIndex(where: { $0 == name }), index + 1 < arguments.count else { return nil }
        let value = arguments[index + 1]
        guard value.hasPrefix("-"), value.count < 16, value.dropFirst().first?.isNumber == true else { return nil }
        return InvalidValue(value: value, option: String(option))
    }

    var unknown: (name: String, suggestion: String?)? {
        let front = "Unknown option '"
        guard message.hasPrefix(front) else { return nil }
        let reported = String(message.dropFirst(front.count).prefix { $0 != "'" })
        let name = OptionNames.typed(reported, in: arguments)
        guard let command = CommandTree.command(words), !namesOutputFile(name), elsewhere(name) == nil else {
            return (name, nil)
        }
        // The program's own option, which no command's help lists.
        if words.isEmpty, EditDistance.between("--version", name) <= 2 { return (name, "--version") }
        // `--target` is an argument rather than the beginning of `--target-key-file`.
        guard usage?.contains("<\(name.drop { $0 == "-" })>") != true else { return (name, nil) }
        // The file is an argument.
        let isArgument = ["<backup>", "<source>", "<target>"].contains { usage?.contains($0) == true }
        guard !isArgument || !["--file", "--path", "-f"].contains(name) else { return (name, nil) }
        let isTarget = usage?.contains("<target>") == true && !isForm(of: name)
        guard !isTarget || !["--output", "--out", "-o"].contains(name) else { return (name, nil) }
        if ["--output", "--out", "-o"].contains(name), !isForm(of: name),
            let own = OptionNames.names(of: command).first(where: { ["--output", "--out"].contains($0) })
        {
            return (name, own)
        }
        // `--expired` is a state.
        let word = String(name.drop { $0 == "-" })
        let states = StateOption(argument: word).map { [$0.standing] } ?? StateOption.meant(by: word)
        if states.count == 1, OptionNames.names(of: command).contains("--state") {
            return (name, "--state \(states[0].rawValue)")
        }
        // `--valut x status`: all commands have the options that may come in front of them.
        let meant = words.isEmpty ? CommandTree.command(later ?? ["status"])?.running : command
        let suggestion = OptionNames.suggestion(for: name, of: meant ?? command)
        return (name, suggestion.map(arguments.contains) == true ? nil : suggestion)
    }

    /// The parsed command, without `vaultctl`.
    var words: [String] {
        (usage ?? "").split(separator: " ").prefix { !"<[-".contains($0.prefix(1)) }.dropFirst().map(String.init)
    }

    /// Whether it names an output file for a command that has no such option. `-o json` is a format.
    private func namesOutputFile(_ name: String) -> Bool {
        guard ["--output", "--out", "-o"].contains(name),
            CommandTree.command(words).map({ OptionNames.names(of: $0).contains { $0 == "--out" || $0 == "--output" } })
                != true, usage?.contains("<target>") != true
        else { return false }
        return value(of: name) != nil && !isForm(of: name)
    }

    func value(of name: String) -> String? {
        arguments.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
            ?? arguments.firstIndex(of: name).flatMap { arguments.dropFirst($0 + 1).first }
    }

    private func isForm(of name: String) -> Bool {
        let forms = ["json", "jsonl", "yaml", "table", "text", "csv", "tsv", "wide"]
        return value(of: name).map { forms.contains($0.lowercased()) } ?? false
    }

    /// The words that the command does not take. The parser does not report them if something else is wrong, too.
    private var strays: [String] {
        guard let command = CommandTree.command(words), let given = GivenArguments(arguments) else { return [] }
        let places = CommandShape(of: command.running).positionals
        guard places.last?.isRepeating != true else { return [] }
        return given.all.filter { $0.taken.kind == "positional" }.compactMap(\.value).dropFirst(places.count)
            + given.superfluous
    }

    /// What an option without its value needs.
    private var missing: [String] {
        if message.lowercased().hasPrefix("missing expected argument") {
            if arguments.contains("--") { return ["words after -- are not options: leave -- out"] }
            if let dash = Self.dash(arguments) { return [dash] }
            let option = message.drop { $0 != "'" }.dropFirst().prefix { $0 != "'" }
            if ["--user ", "--provider "].contains(where: option.hasPrefix), strays.count == 1 {
                return ["a name goes with its option: \(option.prefix { $0 != " " }) \(Printable.shortened(strays[0]))"]
            }
            if let given = GivenArguments(arguments), given.words == ["provider", "add"],
                let hint = ProviderAddCommand.profileHint(given.value(of: "NAME"), given.value(of: "--profile"))
            {
                return [hint]
            }
        }
        let front = "Missing value for '"
        guard message.hasPrefix(front) else { return [] }
        let option = String(message.dropFirst(front.count).prefix { $0 != "'" })
        let name = String(option.prefix { $0 != " " })
        guard !SecretArguments.isSecret(name) else { return ["to read it from standard input: \(name) -"] }
        return InvalidValue(value: "", option: option).hints
    }

    /// Options that select several logins do not select the single login that a command takes.
    private func choosing(by option: String) -> String? {
        guard usage?.contains("[<login>]") == true else { return nil }
        guard !hasArgument else {
            return ["--provider", "-p"].contains(option)
                ? "a login is chosen by its id alone: vaultctl login list --user ID --provider NAME" : nil
        }
        switch option {
        case "--provider" where ["revoke", "remove", "terminate"].contains(words.last):
            return "it takes one login, by its id; all of a provider are ended by: vaultctl login end --provider NAME "
                + "--by \(words.last ?? "")"
        case "--provider", "-p", "--label", "--state":
            let given = GivenArguments(
                ["login", "list"] + arguments.drop { $0 != option && !$0.hasPrefix(option + "=") })
            let value = given?.all.first { $0.taken.title == (OptionNames.short[option] ?? option) }?.value
            return "it takes one login, by its id: vaultctl login list \(option) \(Printable.shortened(value ?? "…"))"
        case "--all" where words.last == "refresh":
            return "it takes one login at a time; all that are due are renewed by: vaultctl maintain --once"
        case "--all" where ["revoke", "remove", "terminate"].contains(words.last):
            return "it takes one login at a time; several are ended by: vaultctl login end"
        case "--all": return "it takes one login at a time"
        default: return nil
        }
    }

    /// For a command that asks no question: an option that would answer it is unnecessary.
    var needless: String? {
        guard let name = unknown?.name, ["--yes", "-y", "--assume-yes", "--no-confirm"].contains(name),
            let command = CommandTree.command(words), !OptionNames.names(of: command).contains("--yes")
        else { return nil }
        return "this command asks no question: leave \(name) out"
    }

    /// The argument that was typed as an option: the one with its name, or a command's only one.
    private var argument: String? {
        guard let unknown, unknown.suggestion == nil, let usage, !hasArgument else { return nil }
        let words = usage.split(separator: " ").filter {
            $0.contains("<") && !$0.contains("<options>") && $0.hasPrefix("[") == $0.hasSuffix("]")
        }
        // What follows an option in the usage is its value.
        let all = usage.split(separator: " ")
        let arguments = words.filter { word in
            let index = all.firstIndex(of: word) ?? 0
            return index == 0 || !all[index - 1].hasPrefix("--")
        }
        let name = unknown.name.drop { $0 == "-" }
        if let same = arguments.first(where: { $0.contains("<\(name)>") }) { return String(same) }
        // A path is not a name: `backup create --name nightly`.
        if name == "name", arguments.contains(where: { ["<target>", "<source>", "<url>"].contains($0) }) { return nil }
        let target = Set(["to", "dest", "destination", "dir", "directory", "out", "output", "o", "path", "file", "f"])
        let places: [(Set<String>, String)] = [
            (["latest", "from", "file", "path", "f"], "<backup>"),
            (["from", "file", "path", "f", "input"], "<source>"),
            (target, "<target>"), (["label"], "<slot>"),
        ]
        for (names, place) in places where names.contains(String(name)) {
            if let same = arguments.first(where: { $0.contains(place) }) { return String(same) }
        }
        let isOne =
            arguments.count == 1
            && (["login", "login-id", "id", "slot", "name", "backup"].contains(name)
                // `provider profiles NAME` names no provider.
                || self.words.first == String(name) && self.words.count == 2)
        // `provider profiles --profile NAME`
        let isListed = arguments.count == 1 && self.words.suffix(2) == ["\(name)s", "list"]
        return isOne || isListed ? String(arguments[0]) : nil
    }

    /// Whether the argument is given already, so that the unknown option does not stand for it. The word after the
    /// option may be its value.
    private var hasArgument: Bool {
        guard let command = CommandTree.command(words), CommandShape(of: command).positionals.count == 1 else {
            return false
        }
        let given = GivenArguments(arguments)?.all.filter { $0.taken.kind == "positional" }.compactMap(\.value) ?? []
        let value = arguments.firstIndex { $0 == unknown?.name }.flatMap { arguments.dropFirst($0 + 1).first }
        return given.count > (value.map(given.contains) == true ? 1 : 0)
    }

    private var hints: [String] {
        if let name = unknown?.name, name.contains(where: \.isWhitespace) {
            return ["an option and its value are two words: leave the quotation marks around them out"]
        }
        if words.isEmpty, let name = unknown?.name, case let word = String(name.drop { $0 == "-" }),
            CommandTree.command([word])?.runsByItself == true, name != "--version"
        {
            return ["a command has no hyphens: vaultctl \(word)"]
        }
        if let late { return ["the command comes first: \(late)"] }
        var hints = invalid?.hints ?? missing
        if let name = unknown?.name, namesOutputFile(name), elsewhere(name) == nil {
            hints.append("this command prints to standard output: add > FILE")
        }
        if let argument {
            hints.append("it is an argument, not an option: \(argument)")
        } else if let hint = unknown.flatMap({
            elsewhere($0.name) ?? choosing(by: $0.name) ?? each($0) ?? variable($0) ?? another($0)
        }) {
            hints.append(hint)
        }
        if isToken {
            hints += [
                "use --access-token-file PATH, or --access-token - for standard input",
                "assume that others have seen the value you just gave",
            ]
        } else if let hint = misplaced ?? needless {
            hints.append(hint)
        }
        if hints.isEmpty, unknown == nil, let stray = strays.first,
            let hint = ParserError("Unexpected argument '\(stray)'", usage: usage, arguments).misplaced
        {
            hints.append(hint)
        }
        guard let usage else { return hints + ["vaultctl --help lists all commands"] }
        let command = (["vaultctl"] + words).joined(separator: " ")
        if message.hasPrefix("Unexpected argument 'help'") || message.hasPrefix("Unexpected argument '?'") {
            return ["did you mean: \(command) --help"]
        }
        hints.append("usage: \(Self.withoutCommonOptions(usage))")
        hints.append("\(command) --help lists all \(usage.contains("<subcommand>") ? "commands" : "options")")
        return hints
    }

    /// If a command has few options of its own, the usage also lists the common ones.
    private static func withoutCommonOptions(_ usage: String) -> String {
        let (first, last) = ("[--vault <path>]", "[--verbose]")
        guard let start = usage.firstRange(of: first), let end = usage.firstRange(of: last),
            start.lowerBound < end.lowerBound
        else { return usage }
        return String(usage[..<start.lowerBound] + "[<options>]" + usage[end.upperBound...])
    }
}
