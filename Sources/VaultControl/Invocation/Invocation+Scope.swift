extension Invocation {
    /// Warns of a scope that was probably meant as several. A comma is a character of a scope like any other (RFC 6749
    /// §3.3), so servers answer with `invalid_scope`, or grant nothing.
    func warnOfCommas(in scope: String?) {
        guard let scope, let word = scope.split(separator: " ").first(where: { $0.contains(",") }) else { return }
        let words = scope.split(whereSeparator: { " ,".contains($0) }).joined(separator: " ")
        warn("\(Printable.shortened(String(word))) is one scope: scopes are separated by blanks")
        advise("if these are several: --scope '\(Printable.shortened(words, to: 200))'")
    }

    /// Prints what to do about a warning, in a pipe too.
    func advise(_ text: String) {
        if !logsJSON { note("hint: \(text)") }
    }
}

extension Invocation {
    /// Providers may define further values, and most ignore those that they do not know: so they are not refused.
    func warnOfPrompt(_ prompt: String?) {
        let known = ["none", "login", "consent", "select_account", "create"]
        guard let word = prompt?.split(separator: " ").map(String.init).first(where: { !known.contains($0) }) else {
            return
        }
        warn("--prompt \(Printable.shortened(word)) is not a usual value: most providers ignore or refuse it")
        advise("use login, consent, select_account, create or none")
    }
}
