/// Text that is broken between words to fit a terminal.
enum Paragraph {
    /// - Parameters:
    ///   - indent: the indent of all lines but the first.
    ///   - used: the columns already used in the first line.
    static func wrapped(_ text: String, indent: Int, after used: Int? = nil, width: Int) -> String {
        let room = max(20, width - indent)
        var (lines, line, taken) = ([String](), "", 0)
        var left = max(20, width - (used ?? indent))
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let size = DisplayWidth.of(word)
            if !line.isEmpty, taken + 1 + size > left {
                lines.append(line)
                (line, taken, left) = ("", 0, room)
            }
            line += (line.isEmpty ? "" : " ") + word
            taken += size + (taken == 0 ? 0 : 1)
        }
        return (lines + [line]).joined(separator: "\n" + String(repeating: " ", count: indent))
    }
}
