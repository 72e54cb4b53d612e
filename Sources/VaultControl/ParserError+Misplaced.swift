import ArgumentParser
import TokenVault
import VaultAdministration

/// Superfluous arguments.
extension ParserError {
    /// The probable meaning of a superfluous argument: a name goes with its option.
    var misplaced: String? {
        guard message.lowercased().contains("unexpected argument"), let command = CommandTree.command(words) else {
            return nil
        }
        let path = String(message.drop { $0 != "'" }.dropFirst().prefix { $0 != "'" })
        let known = OptionNames.names(of: command)
        if path.isEmpty { return "an argument is empty: in a script, check that its variable is set" }
        if path.allSatisfy(\.isWhitespace) {
            return "an argument is blank: a \\ that continues a line must be the last character in it"
        }
        if let hint = wordOfShell(path) ?? bentMarks ?? file(path, known) ?? Self.dash(arguments) { return hint }
        let trimmed = PathProblem.trimmed(path)
        if trimmed != path, known.contains(String(trimmed.prefix { $0 != "=" })) {
            return "there is a blank before \(trimmed): leave it, and a \\ before it, out"
        }
        if path == words.last { return "\(path) is given already: leave it out" }
        // `verify backup` has its words in another order.
        let meant = CommandSuggestions(words + [path]).all.first
        if let meant, meant == "\(path) \(words.joined(separator: " "))" { return "did you mean: vaultctl \(meant)" }
        if let hint = slip(path, of: command, known) { return hint }
        if let hint = flag(of: command) ?? repeated(path, of: command) { return hint }
        if words == ["doctor"], DoctorFinding.Check.allCases.contains(where: { $0.rawValue == path }) {
            return "it runs all checks; what one of them finds: vaultctl doctor | grep -w \(path)"
        }
        if words == ["init"], GivenArguments(arguments)?.value(of: "--vault") == nil {
            return "a vault is named by its option: --vault \(Printable.path(path))"
        }
        if words == ["import", "run"], FileKind(path) != nil || path.contains(where: { "./".contains($0) }) {
            return "it takes one <source>: run it for each"
        }
        if words == ["request"], PathProblem.scheme(of: path) != nil { return "it takes one <url>: run it for each" }
        if let hint = Self.misplaced[words.joined(separator: " ")] ?? assignment(path, of: command) { return hint }
        let isTarget = usage?.contains("<target>") == true
        if known.contains("--vault"), !isTarget, let hint = absentVault(path, among: known, of: command) { return hint }
        if let hint = secondValue(path, of: command, files: true) { return hint }
        if let hint = option(for: path, among: known, of: command) { return hint }
        if words.last == "list", ["all", "everything", "*"].contains(path) { return "it lists all: leave \(path) out" }
        if let hint = secondValue(path, of: command) ?? idOfLogin(path) { return hint }
        return name(path, among: known, of: command) ?? superfluous(path, of: command)
    }

    /// Whether the superfluous argument is probably a token: it is not shown.
    var isToken: Bool {
        let front = "Unexpected argument '"
        guard words == ["token", "update"], message.hasPrefix(front) else { return false }
        let word = String(message.dropFirst(front.count).prefix { $0 != "'" })
        return SecretArguments.mayBeSecret(word) && LoginID(word) == nil && FileKind(word) == nil
    }

    /// An option that a page or a chat has written with a dash.
    static func dash(_ arguments: [String]) -> String? {
        let isDash = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .dashPunctuation }
        let dashed = arguments.first { argument in
            argument.unicodeScalars.prefix(while: isDash).contains { $0 != "-" }
        }
        return dashed.map { argument in
            let name = argument.unicodeScalars.drop(while: isDash)
            return "a dash is not a hyphen: write --\(Printable.shortened(String(String.UnicodeScalarView(name))))"
        }
    }

    /// The content of the file at this path suggests the meaning.
    private func file(_ path: String, _ known: [String]) -> String? {
        if PathProblem.trimmed(path) != path, FileKind(PathProblem.trimmed(path)) == .vault {
            return
                "a vault is named by its option, and without the blank: --vault \(Printable.path(PathProblem.trimmed(path)))"
        }
        switch FileKind(path) {
        case .vault?: return "a vault is named by its option: --vault \(Printable.path(path))"
        case .keyFile?:
            let own = known.first { $0.hasSuffix("-key-file") && !LeadingOptions.withValue.contains($0) }
            return "a key file is named by its option: \(own ?? "--key-file") \(Printable.path(path))"
        case .backup? where words.first != "backup":
            return "to check a backup: vaultctl backup verify \(Printable.path(path))"
        default: return nil
        }
    }

    private func name(_ path: String, among known: [String], of command: any ParsableCommand.Type) -> String? {
        // With a login's id, its user is not named.
        let isLogin = CommandShape(of: command).positionals.contains { $0.valueName == "login" }
        let forms = ["--user ID", "--provider NAME"].filter {
            known.contains(String($0.prefix { $0 != " " })) && !(isLogin && $0.hasPrefix("--user"))
        }
        guard !forms.isEmpty, LoginID(path) == nil, path.contains(where: \.isLetter) else { return nil }
        let hint = "a name goes with its option: \(forms.joined(separator: ", or "))"
        // The name may be a user's, which another command takes.
        guard !known.contains("--user"), let other = elsewhere("--user"), other.hasSuffix("--user ID") else {
            return hint
        }
        // It may also be a secret, so it is not repeated.
        return "\(hint); \(other)"
    }

    /// A word that a shell should have interpreted but did not, because of quotation marks; and the brackets of a
    /// usage.
    private func wordOfShell(_ word: String) -> String? {
        if word.hasPrefix("["), word.hasSuffix("]") {
            return "brackets mark optional parts: leave them out"
        }
        let marks = ["|", "||", ">", ">>", "<", ";", "&", "&&", "\\", "#"]
        guard marks.contains(word) else { return nil }
        return word == "\\" || word == "#"
            ? "\(word) is part of the command here: leave it out"
            : "\(word) is for the shell: write it without quotation marks"
    }

    /// A second value after an option.
    private func secondValue(
        _ word: String, of command: any ParsableCommand.Type, files: Bool = false
    ) -> String? {
        guard let index = arguments.lastIndex(of: word), index > 1, case let option = arguments[index - 2],
            let taken = CommandShape(of: command)[option], taken.takesValue, !LeadingOptions.withValue.contains(option),
            !files || ["path", "file", "directory", "time", "when"].contains(taken.valueName ?? "")
        else { return nil }
        // A secret may have been typed in the middle of its file's name, or beside it.
        let parts = [arguments[index - 1], word].map { part in
            SecretArguments.mayBeSecret(part) ? part.prefix(4) + "…" : Printable.shortened(part)
        }
        return "\(option) takes one value, \(parts[0]): leave \(parts[1]) out"
    }

    /// A directory, or a missing vault.
    private func absentVault(
        _ path: String, among known: [String], of command: any ParsableCommand.Type
    ) -> String? {
        switch FileKind(path) {
        case .directory? where option(for: path, among: known, of: command) == nil:
            "\(Printable.path(path)) is a directory; a vault is a file, and named by its option: --vault PATH"
        case nil where [".vault", ".db", ".sqlite"].contains(where: path.hasSuffix):
            "a vault is named by its option: --vault \(Printable.path(path))"
        default: nil
        }
    }

    /// A superfluous argument of a command that takes none, or no further one.
    private func superfluous(_ word: String, of command: any ParsableCommand.Type) -> String? {
        let places = CommandShape(of: command).positionals
        let shown = Array(words.dropLast()) + ["show"]
        if places.isEmpty, words.last == "list", CommandTree.command(shown) != nil,
            words.first != "login" || ShortID.normal(word).map({ $0.count >= ShortID.least }) == true
        {
            return "to look at one: vaultctl \(shown.joined(separator: " ")) \(Printable.shortened(word))"
        }
        if places.isEmpty { return "it takes no argument: leave \(Printable.shortened(word)) out" }
        guard places.count == 1, !places[0].isRepeating, let place = places[0].valueName else { return nil }
        // A label such as `key file`.
        if place == "slot", word.count < 26, let index = arguments.lastIndex(of: word), index > 0 {
            let whole = Printable.shortened("\(arguments[index - 1]) \(word)")
            return "it takes one <slot>: run it for each; a label with blanks goes into quotation marks: '\(whole)'"
        }
        if place == "login", LoginID(word) == nil, OptionNames.names(of: command).contains("--label") {
            return "a label goes with its option: --label "
                + (SecretArguments.mayBeSecret(word) ? "TEXT" : Printable.shortened(word))
        }
        // `login show user alice`
        if place == "login", let index = arguments.lastIndex(of: word), index > 0, arguments[index - 1] == "user" {
            return "a user goes with an option: --user \(Printable.shortened(word))"
        }
        return "it takes one <\(place)>: "
            + (place == "target" ? "leave \(Printable.shortened(word)) out" : "run it for each")
    }

    /// A mistake by position, or an option without its hyphens.
    private func slip(
        _ word: String, of command: any ParsableCommand.Type, _ known: [String]
    ) -> String? {
        // `key list key` repeats the noun.
        guard !words.contains(word) else { return nil }
        let slashed = word.hasPrefix("/") ? word.dropFirst() : word[...]
        if word.hasPrefix("/"), ["h", "help", "?"].contains(slashed) { return "for help: --help" }
        if arguments.contains("--\(slashed)") { return "--\(slashed) is given already: leave \(word) out" }
        if known.contains("--\(slashed)") { return "an option has two hyphens: --\(slashed)" }
        if known.contains("--\(word.prefix { $0 != "=" })") {
            let name = "--\(word.prefix { $0 != "=" })"
            if SecretArguments.isSecret(name) { return "a secret is read from a file: \(name)-file PATH" }
            let option = Printable.shortened(word.replacing("=", with: " ", maxReplacements: 1))
            return "an option has two hyphens: --\(option)"
        }
        guard let index = arguments.lastIndex(of: word), index > 0 else { return nil }
        if arguments[index - 1] == "--" { return "words after -- are neither options nor commands: leave -- out" }
        let shape = CommandShape(of: command)
        // `--label=work phone`
        if let equals = arguments[index - 1].firstIndex(of: "="), arguments[index - 1].hasPrefix("--") {
            let value = arguments[index - 1][arguments[index - 1].index(after: equals)...]
            let whole = Printable.shortened("\(value) \(word)")
            return "a value with blanks goes into quotation marks: \(arguments[index - 1][..<equals]) '\(whole)'"
        }
        // `audit verify --json audit.jsonl`: a word after an option of all commands is seldom meant for it.
        let isForm = ["true", "false", "yes", "no", "on", "off", "0", "1", "pretty", "compact", "lines", "all"]
            .contains(word.lowercased())
        if arguments[index - 1].hasPrefix("--"), shape[arguments[index - 1]]?.takesValue != true,
            isForm || !LeadingOptions.flags.contains(arguments[index - 1])
        {
            return "\(arguments[index - 1]) takes no value"
        }
        return index > 1 ? rest(arguments[index - 1], word, of: arguments[index - 2], shape) : nil
    }

    /// The rest of an option's value, separated by a blank.
    private func rest(_ value: String, _ word: String, of option: String, _ shape: CommandShape) -> String? {
        guard let taken = shape[option], taken.takesValue, !LeadingOptions.withValue.contains(option) else {
            return nil
        }
        let (first, second) = (Printable.shortened(value), Printable.shortened(word))
        switch taken.valueName ?? "" {
        case "scope", "text", "when", "moment", "date":
            return word == "ago"
                ? "it is counted back from now: leave ago out"
                : "a value with blanks goes into quotation marks: \(option) '\(first) \(second)'"
        case "name=value":
            let name = first.last == ":" || first.last == "=" ? String(first.dropLast()) : first
            return "it is one word: \(option) \(name)=\(second)"
        default: return nil
        }
    }

    /// The command's own option for such a value: a time, or a file.
    private func option(for text: String, among names: [String], of command: any ParsableCommand.Type) -> String? {
        let given = arguments.map { String($0.prefix { $0 != "=" }) }
        if text.hasPrefix("age1"), let option = ["--recipient", "--for"].first(where: names.contains) {
            return "a recipient goes with its option: \(option) \(Printable.shortened(text))"
        }
        if AuditRecord.kinds.contains(text), names.contains("--kind") {
            return "a kind goes with its option: --kind \(text)"
        }
        let isTime = TimeSpan(argument: text) != nil || CalendarTime(argument: text) != nil
        let isFile = [.unknown, .pem].contains(FileKind(text)) || text.contains { "./".contains($0) }
        if let scheme = PathProblem.scheme(of: text), scheme.hasPrefix("http"), names.contains("--issuer"),
            !given.contains("--issuer"), ["add", "register"].contains(words.last)
        {
            return "an issuer goes with its option: --issuer \(Printable.shortened(text))"
        }
        if UInt(text) != nil, let name = names.first(where: { ["--last", "--limit"].contains($0) }),
            !given.contains(name)
        {
            return "a number goes with its option: \(name) \(text)"
        }
        guard isTime || isFile && !text.contains("@") && PathProblem.scheme(of: text) == nil else { return nil }
        let shape = CommandShape(of: command)
        // `backup verify bk/*`: an existing file is not an output file.
        if !isTime, shape.positionals.contains(where: { ["backup", "source", "target"].contains($0.valueName ?? "") }) {
            return FileKind(text) == nil ? nil : "it takes one at a time: run it for each"
        }
        let isDate = TimeSpan(argument: text) == nil
        let kinds =
            isTime
            ? (isDate ? ["when", "moment", "date"] : ["when", "moment", "time"]) : ["path", "file", "directory"]
        let name = names.first { name in
            !LeadingOptions.withValue.contains(name) && kinds.contains(shape[name]?.valueName ?? "")
                && (shape[name]?.isRepeating == true || !given.contains(name))
        }
        if name == nil, !isTime {
            // What verifies or acts would overwrite the file that it was meant to read.
            let writes = ["export", "list", "show", "status", "report", "events", "get", "plan", "profiles"]
            guard FileKind(text) == nil, shape.positionals.isEmpty, text.dropFirst().contains("."),
                command.configuration.commandName.map(writes.contains) == true
            else { return nil }
            return "to write a command's output to a file: > \(Printable.path(text))"
        }
        return name.map { "a \(isTime ? "time" : "file") goes with its option: \($0) \(Printable.path(text))" }
    }

    private static let misplaced = [
        "audit verify":
            "it checks the vault's own audit log, and reads no export; a row and its link: vaultctl audit export --jsonl "
            + "--since ROW",
        "backup list":
            "it lists the backups that the vault remembers, wherever they are; to check one: vaultctl backup verify PATH",
        "tenant list": "a tenant's users: vaultctl user list --tenant NAME",
        "events": "the last ones: --last 10; from a cursor on: --after start; new ones: --follow",
        "request": "a method goes with -X, a header field with -H, a body with -d",
        "serve": "it runs until SIGTERM or SIGINT, and reads its policy again on SIGHUP",
        "restore hold": "it holds all logins; each provider is released by: vaultctl restore accept",
        "damage show": "a row is one word, as vaultctl damage list shows it: login#1",
        "import run": "the source's name goes with its option: --name NAME",
        "witness accept": "a witness is named by its option: --witness PATH",
        "witness begin": "a witness is named by its option: --witness PATH",
        "witness show": "a witness is named by its option: --witness PATH",
        "doctor": "it checks everything, and changes nothing; to try one provider: vaultctl provider test NAME",
        "import status": "it shows all sources",
        "key rotate": "it replaces the root key, now; for other keys: --data-keys, --index or --audit",
        "maintain": "it runs until SIGTERM or SIGINT; how it goes: vaultctl status",
        "login complete": "a callback goes with its option, by standard input: --callback-url -",
        "migrate up": "it goes to the newest version that this vaultctl knows",
        "move status": "it is asked of the vault that is moved: --vault PATH",
        "provider profiles list": "it shows one profile, or lists all",
        "user list": "to look at one: vaultctl user show ID",
    ]

    /// The command line with its command in front, if an option that only some commands have precedes it.
    var late: String? {
        guard message.hasPrefix("Unknown option '"),
            CommandTree.command(words)?.runsByItself != true
        else { return nil }
        guard let command = later, let typed = unknown?.name,
            let known = CommandTree.command(command).map({ OptionNames.names(of: $0.running) }),
            known.contains(OptionNames.short[typed] ?? typed)
        else { return nil }
        var (rest, line) = (command[...], [String]())
        for argument in arguments {
            if argument == rest.first { rest = rest.dropFirst() } else { line.append(Printable.shortened(argument)) }
        }
        return SecretArguments.redact((["vaultctl"] + command + line).joined(separator: " "), arguments: arguments)
    }

    /// The command that comes after the options in front of it.
    var later: [String]? {
        let plain = arguments.filter { !$0.hasPrefix("-") }
        return CommandTree.leaves.first { leaf in
            var rest = leaf[...]
            for word in plain where word == rest.first { rest = rest.dropFirst() }
            return rest.isEmpty
        }
    }
}
