/// The parts of a path, byte by byte: a slash before a combining character is also a slash.
package enum PathName {
    /// The directory of the file: `.` for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func lastPart(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// A path without terminal control characters, in quotation marks where a blank would be invisible.
    package static func shown(_ path: String) -> String {
        let text = String(
            String.UnicodeScalarView(path.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
        return text.first?.isWhitespace == true || text.last?.isWhitespace == true ? "'\(text)'" : text
    }

    /// The advice about a missing directory. Where disks are mounted, a new one would be on another disk than meant.
    package static func adviceToMake(_ directory: String) -> String {
        let isMount = ["/mnt/", "/media/", "/run/media/", "/Volumes/"].contains(where: directory.hasPrefix)
        let name = directory.contains(" ") ? "'\(directory)'" : directory
        return (isMount ? "is its disk mounted? if it is, " : "")
            + "make the directory first: mkdir -m 700 \(shown(name))"
    }
}
