import Foundation
import Testing

/// One row of `Tests/FirstHour`: what is there, what is typed, and what must be answered.
struct FirstHourRow {
    struct File {
        let name: String
        let mode: Int
        let content: String
    }

    struct Reply {
        let path: String
        let status: Int
        let contentType: String
        let body: String
    }

    /// `*` stands for anything.
    struct Pattern {
        let text: String

        func matches(_ line: String) -> Bool {
            let parts = text.components(separatedBy: "*")
            guard parts.count > 1 else { return line == text }
            guard line.hasPrefix(parts[0]) else { return false }
            var rest = line.dropFirst(parts[0].count)
            for part in parts.dropFirst().dropLast() {
                guard let range = rest.firstRange(of: part) else { return false }
                rest = rest[range.upperBound...]
            }
            return rest.hasSuffix(parts[parts.count - 1])
        }
    }

    /// In its file.
    var line = 0
    var files: [File] = []
    var replies: [Reply] = []
    var needsLogin = false
    var input = ""
    var command = ""
    var variables: [String: String] = [:]
    var arguments: [String] = []
    var code: Int32 = 0
    var first = Pattern(text: "")
    /// Lines that must be there: hints, and what the provider said.
    var details: [Pattern] = []

    static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FirstHour").standardizedFileURL.path

    static func rows(of room: String) throws -> [FirstHourRow] {
        let text = try String(contentsOfFile: "\(directory)/\(room).txt", encoding: .utf8)
        var rows: [FirstHourRow] = []
        var row = FirstHourRow()
        for (index, line) in (text + "\n\n").components(separatedBy: "\n").enumerated() where !line.hasPrefix("#") {
            if line.isEmpty {
                if !row.command.isEmpty { rows.append(row) }
                row = FirstHourRow()
            } else {
                try row.read(line, index + 1)
            }
        }
        return rows
    }

    private mutating func read(_ line: String, _ number: Int) throws {
        let (head, rest) = Self.split(line)
        switch head {
        case _ where line.hasPrefix("  "):
            details.append(Pattern(text: String(line.dropFirst(2))))
        case "file":
            let (name, tail) = Self.split(rest)
            let (mode, content) = Self.split(tail)
            files.append(
                File(name: name, mode: try #require(Int(mode, radix: 8)), content: try CommandWords.unescape(content)))
        case "reply":
            let (path, tail) = Self.split(rest)
            let (status, more) = Self.split(tail)
            let (type, body) = Self.split(more)
            replies.append(
                Reply(
                    path: path, status: try #require(Int(status)), contentType: type,
                    body: try CommandWords.unescape(body)))
        case "login": needsLogin = true
        case "input": input = try CommandWords.unescape(rest)
        case "$":
            (self.line, command) = (number, rest)
            var words = try CommandWords.split(rest)
            while let word = words.first, word != "vaultctl" {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                variables[String(parts[0])] = String(try #require(parts.dropFirst().first))
                words.removeFirst()
            }
            arguments = Array(words.dropFirst())
        default:
            code = try #require(Int32(head), "line \(number): \(line)")
            first = Pattern(text: rest)
        }
    }

    private static func split(_ text: String) -> (String, String) {
        guard let space = text.firstIndex(of: " ") else { return (text, "") }
        return (String(text[..<space]), String(text[text.index(after: space)...]))
    }
}

/// How rows spell what is typed: words between spaces, `'…'` around spaces, and escapes.
enum CommandWords {
    static func split(_ text: String) throws -> [String] {
        var words: [String] = []
        var (word, isQuoted, isWord) = ("", false, false)
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "'":
                isQuoted.toggle()
                isWord = true
            case " " where !isQuoted:
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            case "\\":
                word += try escape(&rest)
                isWord = true
            default:
                word.append(character)
                isWord = true
            }
        }
        return isWord ? words + [word] : words
    }

    static func unescape(_ text: String) throws -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\" { result += try escape(&rest) } else { result.append(character) }
        }
        return result
    }

    /// `\n`, `\r`, `\t`, `\e`, `\u{202e}`, and `\{300:x}` for so many of a character.
    private static func escape(_ rest: inout Substring) throws -> String {
        switch rest.popFirst() {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "e": return "\u{1B}"
        case "u":
            let digits = try braced(&rest)
            return String(Character(try #require(UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init))))
        case "{":
            rest = "{" + rest
            let parts = try braced(&rest).split(separator: ":", maxSplits: 1)
            return String(
                repeating: String(try #require(parts.last)), count: try #require(parts.first.flatMap { Int($0) }))
        case let character?: return String(character)
        case nil: return "\\"
        }
    }

    private static func braced(_ rest: inout Substring) throws -> String {
        let end = try #require(rest.firstIndex(of: "}"))
        let text = String(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[rest.index(after: end)...]
        return text
    }
}
