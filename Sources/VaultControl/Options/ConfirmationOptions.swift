import ArgumentParser

/// For commands that destroy something.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: [.customShort("y"), .customLong("yes")], help: "Do it without asking.")
    var isConfirmed = false

    /// Asks on a terminal; elsewhere `--yes` must have been given.
    ///
    /// - Parameter deed: what will be done, as a question without its mark, such as `Erase user alice and 2 logins`.
    func require(_ deed: String, _ invocation: Invocation) throws {
        guard !isConfirmed else { return }
        guard invocation.console.inputIsTerminal else {
            throw Failure(
                .usage, code: "confirmationNeeded", "this cannot be undone, and there is no terminal to ask on",
                hints: ["add --yes to go on"])
        }
        try invocation.console.write("\(deed)? This cannot be undone. [y/N] ", to: .error)
        let answer = try InputWait.during { try LineReader(invocation.console.input).line() }
        guard ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased()) else {
            throw Failure(.usage, code: "notConfirmed", "nothing was changed")
        }
    }
}
