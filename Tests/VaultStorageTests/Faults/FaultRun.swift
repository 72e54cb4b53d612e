import Foundation
import TestSupport
import Testing

/// What `fault-probe` said. It runs apart because its SQLite works on files that fail, and because it may die of it.
struct FaultRun {
    let lines: [String]
    let status: Int32

    /// Runs one suite, shows its counts, and records what it found.
    init(_ suite: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let run = try await ProgramRun(
            BuiltProgram.url("fault-probe"), [suite] + options + (Depth.current == .deep ? ["seconds=7200"] : []))
        lines = run.lines
        status = run.exitCode
        for line in lines {
            if line.hasPrefix("FAIL ") {
                Issue.record("\(line.dropFirst(5))", sourceLocation: sourceLocation)
            } else {
                print(line)
            }
        }
        #expect(status == 0, "\(suite) \(options) ended so: \(status)", sourceLocation: sourceLocation)
    }

    /// The number behind a word at the beginning of a line.
    func number(_ word: String) -> Int? {
        lines.last { $0.hasPrefix("\(word) ") }.flatMap { Int($0.dropFirst(word.count + 1)) }
    }
}
