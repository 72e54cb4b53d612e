import ArgumentParser

/// For what should not be done by a habit of the fingers, and not by a script that meant another row.
struct TypedConfirmation: ParsableArguments {
    @Option(name: .customLong("confirm"), help: .init("The row once more: do it without asking.", valueName: "row"))
    var confirmed: String?

    /// Asks for `word` on a terminal; elsewhere it must have been given.
    func require(_ word: String, to deed: String, _ invocation: Invocation) throws {
        if let confirmed {
            guard confirmed == word else {
                throw Failure.usage(
                    "--confirm does not name what is to be discarded; nothing was changed",
                    hint: "write --confirm \(word)")
            }
            return
        }
        guard invocation.console.inputIsTerminal else {
            throw Failure(
                .usage, code: "confirmationNeeded", "this must be confirmed, and there is no terminal to ask on",
                hints: ["add --confirm \(word)"])
        }
        try invocation.console.write("Type \(word) to \(deed): ", to: .error)
        let answer = String(
            decoding: try InputWait.during { try LineReader(invocation.console.input).line() }, as: UTF8.self)
        guard answer == word else { throw Failure(.usage, code: "notConfirmed", "nothing was changed") }
    }
}
