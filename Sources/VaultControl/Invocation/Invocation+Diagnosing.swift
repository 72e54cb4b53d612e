extension Invocation {
    /// Prints one line in addition to the result, for a person.
    func diagnose(_ kind: String, _ text: String) {
        guard !logsJSON else { return log(kind, text) }
        let style = Style(isRich: console.isRich(.error))
        let word =
            switch kind {
            case "error": style.red(kind)
            case "warning": style.yellow(kind)
            default: style.dim(kind)
            }
        try? console.write("vaultctl: \(word): \(text)\n", to: .error)
    }

    /// Prints one line in addition to the result, for a program.
    func diagnose(_ document: OutputRecord) {
        let time: OutputRecord = logsJSON ? [.data("time", now)] : []
        try? console.write((time + document).json.text + "\n", to: .error)
    }

    /// Logs a message of the program itself, in the format of the library's.
    func log(_ level: String, _ message: String, _ details: OutputRecord = []) {
        diagnose([.data("log", [.data("level", level), .data("message", message)] as OutputRecord)] + details)
    }
}
