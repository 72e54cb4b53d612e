extension Invocation {
    /// Warns of a scope that was probably meant as several. A comma is a character of a scope like any other (RFC 6749
    /// §3.3), so servers answer with `invalid_scope`, or grant nothing.
    func warnOfCommas(in scope: String?) {
        guard let scope, let word = scope.split(separator: " ").first(where: { $0.contains(",") }) else { return }
        let words = scope.split(whereSeparator: { " ,".contains($0) }).joined(separator: " ")
        warn("\(Printable.shortened(String(word))) is one scope: scopes are separated by blanks")
        if !logsJSON { note("hint: if these are several: --scope '\(Printable.shortened(words, to: 200))'") }
    }
}
