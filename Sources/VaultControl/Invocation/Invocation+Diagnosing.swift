extension Invocation {
    /// One line beside the result, for a person.
    func diagnose(_ kind: String, _ text: String) {
        let style = Style(isRich: console.isRich(.error))
        let word =
            switch kind {
            case "error": style.red(kind)
            case "warning": style.yellow(kind)
            default: style.dim(kind)
            }
        try? console.write("vaultctl: \(word): \(text)\n", to: .error)
    }

    /// One line beside the result, for a program.
    func diagnose(_ document: Sheet) {
        try? console.write(document.json.text + "\n", to: .error)
    }
}
