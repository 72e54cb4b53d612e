import FoundationEssentials
import TokenVault

/// One run of the program: its streams and how it is to speak.
struct Invocation {
    var console: Console
    let isJSON: Bool
    let isQuiet: Bool
    var isVerbose = false
    /// What stands in for options that are not given; nil if there is no such file.
    var configuration: ConfigurationFile?
    /// Whom the audit trail names for what is done; nil: nobody.
    var actor: VaultOptions.Actor?
    /// What named the variables that are not the environment's own: a line of that file.
    var origins: [String: String] = [:]
    /// Whether each line on standard error is an object.
    var logsJSON = false

    var now: Date { Date() }
    var style: Style { Style(isRich: console.isRich(.output)) }
    var isTerminal: Bool { console.isTerminal(.output) }

    /// The result: one JSON document, or text.
    func emit(_ document: some JSONConvertible, text: @autoclosure () -> String) throws {
        try console.write(isJSON ? document.json.text + "\n" : text(), to: .output)
    }

    /// The result: an object, or its lines.
    func emit(_ record: OutputRecord) throws { try emit(record, text: text(record)) }

    /// The result: an object that holds a list, or a table.
    func emit(_ name: String, _ records: [OutputRecord], _ headings: [String]) throws {
        try emit(OutputRecord([.data(name, records)]), text: text(Table(headings, records, now: now)))
    }

    func text(_ record: OutputRecord) -> String { record.text(isTerminal: isTerminal, style: style, now: now) }

    func text(_ table: Table) -> String {
        isTerminal ? table.columns(width: console.width, style: style) : table.lines
    }

    /// What is good to know, for a person: on standard error, so that the output stays a result.
    func note(_ text: String) {
        guard !isQuiet else { return }
        guard !logsJSON else { return log("info", text) }
        try? console.write(text + "\n", to: .error)
    }

    /// The next step, on a terminal only.
    func hint(_ text: String) {
        guard !isJSON, !logsJSON, console.isTerminal(.error) else { return }
        note(Style(isRich: console.isRich(.error)).dim("hint: ") + text)
    }

    func warn(_ text: String) { diagnose("warning", text) }

    /// The end of a command whose document is out already: one run prints one document.
    func end(afterOutput failure: Failure) -> ExitRequest {
        print(failure)
        return ExitRequest(status: failure.status)
    }

    func report(_ failure: Failure) {
        print(failure)
        if isJSON {
            try? console.write(failure.record.json.text + "\n", to: .output)
        }
    }

    private func print(_ failure: Failure) {
        guard !logsJSON else { return log("error", failure.message, failure.record) }
        let style = Style(isRich: console.isRich(.error))
        var text = "vaultctl: \(style.red("error")): \(failure.message)\n"
        if let answer = failure.answer { text += "the provider said: \(answer)\n" }
        for hint in failure.hints {
            text += "\(style.dim("hint")): \(hint)\n"
        }
        try? console.write(text, to: .error)
    }
}
