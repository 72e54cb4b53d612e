import Foundation
import Testing

import TokenVault

/// `docs/session-states.md` draws what a test has tried out.
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
            "docs/session-states.md differs from the table of SessionTransitionTests: run scripts/session-states")
    }
}

/// The table of ``SessionTransitionTests`` as a diagram and a table. No login is *establishing*: its user is.
private enum SessionDrawing {
    private typealias Table = SessionTransitionTests

    static var text: String { "```mermaid\nstateDiagram-v2\n\(arrows)```\n\n\(table)" }

    private static var arrows: String {
        var lines = "    [*] --> notLoggedIn\n    refreshFailed: tokenExpired(failure)\n"
        for (state, nexts) in Table.table {
            var targets: [(name: Table.Kind, causes: [String])] = []
            for (change, next) in zip(Table.Change.allCases, nexts) where next != state {
                if let index = targets.firstIndex(where: { $0.name == next }) {
                    targets[index].causes.append(change.rawValue)
                } else {
                    targets.append((next, [change.rawValue]))
                }
            }
            for target in targets {
                lines += "    \(state) --> \(target.name): \(target.causes.joined(separator: ", "))\n"
            }
        }
        return lines
    }

    private static var table: String {
        var lines = "| | " + Table.Change.allCases.map(\.rawValue).joined(separator: " | ") + " |\n"
        lines += "|---" + String(repeating: "|---", count: Table.Change.allCases.count) + "|\n"
        for (state, nexts) in Table.table {
            let cells = nexts.map { $0 == state ? "–" : label($0) }
            lines += "| \(label(state)) | " + cells.joined(separator: " | ") + " |\n"
        }
        return lines
    }

    private static func label(_ kind: Table.Kind) -> String {
        kind == .refreshFailed ? "tokenExpired(failure)" : kind.rawValue
    }
}
