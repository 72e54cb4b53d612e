import FoundationEssentials
import TokenVault

/// One run of the program: its streams and its output format.
struct Invocation {
    var console: Console
    let isJSON: Bool
    let isQuiet: Bool
    var isVerbose = false
    /// The configuration file, which replaces omitted options; nil if there is none.
    var configuration: ConfigurationFile?
    /// The actor in the audit trail; nil if it is not a person.
    var actor: VaultOptions.Actor?
    /// Replaces an error while the vault is still open.
    var explain: @Sendable (any Error, Vault) async -> any Error = { error, _ in error }
    /// What this run has done, for an error that hides the result.
    let made = MadeChanges()
    /// For variables set by the configuration file: the line that set them.
    var origins: [String: String] = [:]
    /// Whether each line on standard error is an object.
    var logsJSON = false

    var now: Date { Date() }
    var style: Style { Style(isRich: console.isRich(.output)) }
    var isTerminal: Bool { console.isTerminal(.output) }

    /// Prints the result: one JSON document, or text.
    func emit(_ document: some JSONConvertible, text: @autoclosure () -> String) throws {
        try console.write(isJSON ? document.json.text + "\n" : text(), to: .output)
    }

    /// Prints the result: an object, or its lines.
    func emit(_ record: OutputRecord) throws { try emit(record, text: text(record)) }

    /// Prints the result: an object that holds a list, or a table.
    func emit(_ name: String, _ records: [OutputRecord], _ headings: [String]) throws {
        try emit(OutputRecord([.data(name, records)]), text: text(Table(headings, records, now: now)))
    }

    func text(_ record: OutputRecord) -> String { record.text(isTerminal: isTerminal, style: style, now: now) }

    func text(_ table: Table) -> String {
        isTerminal ? table.columns(width: console.width, style: style) : table.lines
    }

    /// Prints information for a person: on standard error, so that the output is the result alone.
    func note(_ text: String) {
        guard !isQuiet else { return }
        guard !logsJSON else { return log("info", text) }
        try? console.write(text + "\n", to: .error)
    }

    /// Prints the next step, on a terminal only.
    func hint(_ text: String) {
        guard !isJSON, !logsJSON, console.isTerminal(.error) else { return }
        note(Style(isRich: console.isRich(.error)).dim("hint: ") + text)
    }

    func warn(_ text: String) { diagnose("warning", text) }

    /// Ends a command that has printed its document already: one run prints one document.
    func end(afterOutput failure: Failure) -> ExitRequest {
        print(failure)
        return ExitRequest(status: failure.status)
    }

    func report(_ failure: Failure) {
        print(failure)
        if isJSON {
            try? console.write(failure.record(exitCode: Interrupts.exitCode).json.text + "\n", to: .output)
        }
    }

    private func print(_ failure: Failure) {
        guard !logsJSON else { return log("error", failure.message, failure.record(exitCode: Interrupts.exitCode)) }
        let style = Style(isRich: console.isRich(.error))
        var text = "vaultctl: \(style.red("error")): \(failure.message)\n"
        if let answer = failure.answer { text += "the provider said: \(answer)\n" }
        for hint in failure.hints {
            text += "\(style.dim("hint")): \(hint)\n"
        }
        try? console.write(text, to: .error)
    }
}
