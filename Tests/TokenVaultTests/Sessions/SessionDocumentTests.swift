import Foundation
import Testing

@testable import TokenVault

/// `docs/session-states.md` draws what the code does, because the code draws it.
struct SessionDocumentTests {
    /// `scripts/session-states` sets it.
    private static let mayRewrite = ProcessInfo.processInfo.environment["TOKENVAULT_REWRITE_DOCS"] == "1"
    private static let marks = ("<!-- sessions: begin -->\n", "<!-- sessions: end -->")

    @Test func theDiagramIsWhatTheCodeDoes() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../docs/session-states.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let begin = try #require(text.range(of: Self.marks.0))
        let end = try #require(text.range(of: Self.marks.1))
        let drawn = SessionDrawing.text
        if Self.mayRewrite {
            let new = text[..<begin.upperBound] + drawn + text[end.lowerBound...]
            try Data(new.utf8).write(to: path)
            return
        }
        #expect(
            text[begin.upperBound..<end.lowerBound] == drawn,
            "docs/session-states.md differs from the transition function: run scripts/session-states")
    }
}

/// The transition function as a diagram and a table. No login is *establishing*: its user is.
private enum SessionDrawing {
    private typealias Table = SessionChangeTableTests

    private static let states: [(name: String, state: SessionState)] = [
        ("notLoggedIn", .notLoggedIn), ("established", .established),
        ("tokenExpired", .tokenExpired(nil)), ("refreshFailed", .tokenExpired(Table.earlier)),
        ("terminated", .terminated(.globalBan)),
    ]

    static var text: String { "```mermaid\nstateDiagram-v2\n\(arrows)```\n\n\(table)" }

    private static var arrows: String {
        var lines = "    [*] --> notLoggedIn\n    refreshFailed: tokenExpired(failure)\n"
        for (name, state) in states {
            var targets: [(name: String, causes: [String])] = []
            for change in Table.changes where state.after(change) != state {
                let target = Self.name(state.after(change))
                if target == name { continue }
                if let index = targets.firstIndex(where: { $0.name == target }) {
                    targets[index].causes.append(words(change))
                } else {
                    targets.append((target, [words(change)]))
                }
            }
            for target in targets {
                lines += "    \(name) --> \(target.name): \(target.causes.joined(separator: ", "))\n"
            }
        }
        return lines
    }

    private static var table: String {
        var lines = "| | " + Table.changes.map { words($0) }.joined(separator: " | ") + " |\n"
        lines += "|---" + String(repeating: "|---", count: Table.changes.count) + "|\n"
        for (name, state) in states {
            let cells = Table.changes.map { change in
                let next = state.after(change)
                return next == state ? "–" : label(Self.name(next))
            }
            lines += "| \(label(name)) | " + cells.joined(separator: " | ") + " |\n"
        }
        return lines
    }

    private static func name(_ state: SessionState) -> String {
        switch state {
        case .notLoggedIn: "notLoggedIn"
        case .establishing: "establishing"
        case .established: "established"
        case .tokenExpired(nil): "tokenExpired"
        case .tokenExpired(_?): "refreshFailed"
        case .terminated: "terminated"
        }
    }

    private static func label(_ name: String) -> String { name == "refreshFailed" ? "tokenExpired(failure)" : name }

    private static func words(_ change: SessionChange) -> String {
        switch change {
        case .tokenStored: "token stored"
        case .staleTokenStored: "token stored that had run out"
        case .tokenRanOut: "token ran out"
        case .died: "refresh failed"
        case .ended: "ended"
        case .removed: "logged out"
        }
    }
}
