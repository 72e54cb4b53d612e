import ArgumentParser
import SettingsText
import TokenVault

/// Superfluous arguments that belong to an option.
extension ParserError {
    /// `provider drift accept acme`: a flag without its hyphens, in the place of a name.
    func flag(of command: any ParsableCommand.Type) -> String? {
        let shape = CommandShape(of: command)
        let given = GivenArguments(arguments)?.all.filter { $0.taken.kind == "positional" }.compactMap(\.value) ?? []
        guard let word = given.first(where: { shape["--" + $0]?.takesValue == false }) else { return nil }
        let rest = arguments.dropFirst(words.count).filter { $0 != word }.map { Printable.shortened($0) }
        let line = SecretArguments.redact((words + rest).joined(separator: " "), arguments: arguments)
        return "an option has two hyphens: vaultctl \(line) --\(word)"
    }

    /// `--accept keySlots backup`: a further value of a repeatable option.
    func repeated(_ word: String, of command: any ParsableCommand.Type) -> String? {
        guard let index = arguments.lastIndex(of: word), index > 1, case let option = arguments[index - 2],
            let taken = CommandShape(of: command)[option], taken.takesValue, taken.isRepeating
        else { return nil }
        let values = [arguments[index - 1], word]
        if words == ["request"], ["--header", "-H"].contains(option), !values[0].contains(":") {
            return "a field is one argument: \(option) '\(Printable.shortened(values[0])): VALUE'"
        }
        let each = values.map { SecretArguments.mayBeSecret($0) ? "…" : Printable.shortened($0) }
        return "repeat the option for each: " + each.map { "\(option) \($0)" }.joined(separator: " ")
    }

    /// `shop=acme` belongs to a log-in.
    func assignment(_ word: String, of command: any ParsableCommand.Type) -> String? {
        guard let equals = word.firstIndex(of: "="), equals != word.startIndex,
            word[..<equals].allSatisfy({ $0.isLetter || $0.isNumber || "_.-".contains($0) })
        else { return nil }
        let shape = CommandShape(of: command)
        let options = OptionNames.names(of: command).filter { shape[$0]?.valueName == "name=value" }
        guard !options.isEmpty else { return nil }
        let shown = SecretArguments.mayBeSecret(word) ? "\(word[..<equals])=…" : Printable.shortened(word)
        return "a value goes with its option: " + options.map { "\($0) \(shown)" }.joined(separator: ", or ")
    }

    /// Quotation marks of a page or an editor: the shell splits what is between them.
    var bentMarks: String? {
        let marks = SettingsScanner.bentMarks
        func value(_ argument: String) -> Substring {
            argument.hasPrefix("--") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
        }
        guard let start = arguments.firstIndex(where: { value($0).first.map(marks.contains) == true }),
            let mark = value(arguments[start]).first,
            let end = arguments[start...].firstIndex(where: { $0.last.map(marks.contains) == true })
        else { return nil }
        let text = arguments[start...end].joined(separator: " ").filter { !marks.contains($0) }
        let option = start > 0 && arguments[start - 1].hasPrefix("--") ? "\(arguments[start - 1]) " : ""
        return "\(mark) is not a quotation mark of the shell: write \(option)'\(Printable.shortened(text))'"
    }

    func idOfLogin(_ word: String) -> String? {
        guard LoginID(word) != nil else { return nil }
        return switch words.joined(separator: " ") {
        case "login list": "to look at one: vaultctl login show \(word)"
        case "login end": "one login is ended by: vaultctl login revoke \(word), or login remove"
        default: nil
        }
    }
}
