import ArgumentParser

/// For commands that destroy something.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: [.customShort("y"), .customLong("yes")], help: "Do not ask for confirmation.")
    var isConfirmed = false

    /// Asks on a terminal; elsewhere `--yes` must have been given.
    ///
    /// - Parameters:
    ///   - deed: the action, as a question without its mark, such as `Erase user alice and 2 logins`.
    ///   - isFinal: whether there is no way back.
    func require(_ deed: String, isFinal: Bool = true, _ invocation: Invocation) throws {
        guard
            try isAsked(
                isFinal ? "this cannot be undone, and there is no terminal to confirm it on" : Self.nobodyToAsk,
                invocation)
        else { return }
        let answer = try ask("\(deed)?\(isFinal ? " This cannot be undone." : "") [y/N] ", invocation)
        guard ["y", "yes"].contains(answer.lowercased()) else { throw Self.refused }
    }

    /// The same for actions that must not be confirmed out of habit: a word must be typed.
    func require(typing word: String, to deed: String, _ invocation: Invocation) throws {
        guard try isAsked(Self.nobodyToAsk, invocation) else { return }
        guard try ask("Type \(word) to \(deed): ", invocation) == word else { throw Self.refused }
    }

    private static let nobodyToAsk = "this needs confirmation, and there is no terminal to ask on"
    private static let refused = Failure(.usage, code: "notConfirmed", "nothing was changed")

    private func isAsked(_ problem: String, _ invocation: Invocation) throws -> Bool {
        guard !isConfirmed else { return false }
        guard invocation.console.inputIsTerminal else {
            throw Failure(.usage, code: "confirmationNeeded", problem, hints: ["add --yes to proceed"])
        }
        return true
    }

    private func ask(_ question: String, _ invocation: Invocation) throws -> String {
        try invocation.console.write(question, to: .error)
        return String(
            decoding: try InputWait.during { try LineReader(invocation.console.input).line() }, as: UTF8.self)
    }
}
