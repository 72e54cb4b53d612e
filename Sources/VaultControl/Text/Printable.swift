/// Foreign text – user ids, labels, names – made safe to print: one line, no terminal commands, no reordering.
enum Printable {
    /// The qualified name of a tenant's user or provider is shown as `tenant/name`. No one can type the characters in
    /// it.
    static func unqualified(_ text: String) -> String {
        guard text.utf8.first == 0x1D else { return text }
        let parts = text.utf8.dropFirst().split(separator: 0x1D, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let tenant = String(parts[0]), let name = String(parts[1]), !tenant.isEmpty else {
            return text
        }
        return "\(tenant)/\(name)"
    }

    /// Control characters, bidirectional controls, invisible characters and the backslash become `\n`, `\u{…}`, `\\`.
    static func escape(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in unqualified(text).unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isDeceptive(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Several lines for a terminal: unchanged, except for terminal commands and reordering.
    static func lines(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if scalar != "\n", scalar != "\t", isDeceptive(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Escaped and cut after `length` characters: for messages and for tables on a terminal.
    static func shortened(_ text: String, to length: Int = 64) -> String {
        // Cut first: escaping a megabyte would be wasted.
        let text = unqualified(text)
        let head = text.prefix(length)
        let isCut = head.endIndex != text.endIndex
        let escaped = escape(String(head))
        if escaped.count > length {
            return escaped.prefix(length - 1) + "…"
        }
        return isCut ? escaped.prefix(length - 1) + "…" : escaped
    }

    /// Names in a sentence: the first eight of them.
    static func list(_ names: [String]) -> String {
        names.prefix(8).map { shortened($0) }.joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    }

    /// The same at the beginning or end of a sentence, where a blank or an empty text would be invisible.
    static func named(_ text: String, to length: Int = 64) -> String {
        let hasBlank = text.first?.isWhitespace == true || text.last?.isWhitespace == true
        return text.isEmpty || hasBlank ? "'\(shortened(text, to: length))'" : shortened(text, to: length)
    }

    /// A path in a sentence: in quotation marks if its blanks would be invisible.
    ///
    /// The password of an address that was typed where a path belongs is left out.
    static func path(_ path: String) -> String {
        let path = withoutPassword(path)
        let isPlain = !path.isEmpty && !path.contains(where: \.isWhitespace)
        return isPlain ? shortened(path, to: 200) : "'\(shortened(path, to: 200))'"
    }

    /// `postgresql://user:password@host/name` with `…` for the password.
    private static func withoutPassword(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://"), let end = text[scheme.upperBound...].lastIndex(of: "@"),
            let colon = text[scheme.upperBound..<end].firstIndex(of: ":")
        else { return text }
        return text[...colon] + "…" + text[end...]
    }

    /// Whether a character is invisible, or changes how its neighbours look.
    static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
