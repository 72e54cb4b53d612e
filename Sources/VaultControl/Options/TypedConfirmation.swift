import ArgumentParser

/// For actions that must not be confirmed out of habit: a person types the row's name. A script names it or says
/// `--yes`.
struct TypedConfirmation: ParsableArguments {
    @Option(
        name: .customLong("confirm"), help: .init("Repeat the row's name instead of being asked.", valueName: "row"))
    var confirmed: String?

    @Flag(name: [.customShort("y"), .customLong("yes")], help: "Do not ask for confirmation.")
    var isConfirmed = false

    /// Asks for `word` on a terminal; elsewhere it must have been given.
    func require(_ word: String, to deed: String, _ invocation: Invocation) throws {
        if let confirmed {
            guard confirmed == word else {
                throw Failure.usage(
                    "--confirm does not match the row; nothing was changed",
                    hint: "use --confirm \(word)")
            }
            return
        }
        guard !isConfirmed else { return }
        guard invocation.console.inputIsTerminal else {
            throw Failure(
                .usage, code: "confirmationNeeded", "this needs confirmation, and there is no terminal to ask on",
                hints: ["add --yes, or --confirm \(word)"])
        }
        try invocation.console.write("Type \(word) to \(deed): ", to: .error)
        let answer = String(
            decoding: try InputWait.during { try LineReader(invocation.console.input).line() }, as: UTF8.self)
        guard answer == word else { throw Failure(.usage, code: "notConfirmed", "nothing was changed") }
    }
}
