import FoundationEssentials

/// One run of the program: its streams and how it is to speak.
struct Invocation {
    let console: Console
    let isJSON: Bool
    let isQuiet: Bool
    var isVerbose = false

    var now: Date { Date() }
    var style: Style { Style(isRich: console.isRich(.output)) }
    var isTerminal: Bool { console.isTerminal(.output) }

    /// The result: one JSON document, or text.
    func emit(json: @autoclosure () -> JSONValue, text: @autoclosure () -> String) throws {
        try console.write(isJSON ? json().text + "\n" : text(), to: .output)
    }

    /// The result as facts.
    func emit(json: @autoclosure () -> JSONValue, facts: Facts) throws {
        try emit(json: json(), text: facts.text(isTerminal: isTerminal, style: style))
    }

    func emit(json: @autoclosure () -> JSONValue, table: Table) throws {
        try emit(json: json(), text: table.text(isTerminal: isTerminal, style: style))
    }

    /// What is good to know, for a person: on standard error, so that the output stays a result.
    func note(_ text: String) {
        guard !isQuiet else { return }
        try? console.write(text + "\n", to: .error)
    }

    /// The next step, on a terminal only.
    func hint(_ text: String) {
        guard !isJSON, console.isTerminal(.error) else { return }
        note(Style(isRich: console.isRich(.error)).dim("hint: ") + text)
    }

    func warn(_ text: String) { diagnose("warning", text) }

    /// The end of a command whose document is out already: one run prints one document.
    func end(afterOutput failure: Failure) -> ExitRequest {
        tell(failure)
        return ExitRequest(status: failure.status)
    }

    func report(_ failure: Failure) {
        tell(failure)
        if isJSON {
            try? console.write(failure.json.text + "\n", to: .output)
        }
    }

    private func tell(_ failure: Failure) {
        let style = Style(isRich: console.isRich(.error))
        var text = "vaultctl: \(style.red("error")): \(failure.message)\n"
        if let answer = failure.answer { text += "the provider said: \(answer)\n" }
        for hint in failure.hints {
            text += "\(style.dim("hint")): \(hint)\n"
        }
        try? console.write(text, to: .error)
    }
}
