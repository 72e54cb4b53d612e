/// The help of a command as it is shown: its own options before those that all commands have.
enum HelpText {
    private static let common = "\n" + GlobalOptions.title.uppercased() + ":\n"
    private static let own = "\nOPTIONS:\n"

    /// The parser puts sections with a title of their own first.
    static func ordered(_ text: String) -> String {
        guard let first = text.firstRange(of: common), let second = text.firstRange(of: own),
            first.upperBound <= second.lowerBound
        else { return text }
        let front = text[..<first.lowerBound]
        let options = text[second.lowerBound...].drop { $0 == "\n" }
        let section = text[first.lowerBound..<second.lowerBound].drop { $0 == "\n" }
        return "\(front)\n\(trimmed(options))\n\n\(trimmed(section))"
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.last == "\n" { text.removeLast() }
        return text
    }
}
