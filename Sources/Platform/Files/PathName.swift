/// The parts of a path, byte by byte: a slash before a combining character is a slash, too.
package enum PathName {
    /// Where the file lies: `.` for a name alone.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func lastPart(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// A path with nothing in it that a terminal would obey; in quotation marks where a blank would not be seen.
    package static func shown(_ path: String) -> String {
        let text = String(
            String.UnicodeScalarView(path.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
        return text.first?.isWhitespace == true || text.last?.isWhitespace == true ? "'\(text)'" : text
    }
}
