import Foundation
import Testing

/// What `fault-probe` said. It runs apart because its SQLite works on files that fail, and because it may die of it.
struct FaultRun {
    let lines: [String]
    let status: Int32

    /// The long form of the suites, for `scripts/deep`.
    static let isDeep = ProcessInfo.processInfo.environment["TOKENVAULT_DEEP"] != nil

    /// Runs one suite, shows its counts, and records what it found.
    init(_ suite: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let result = try await Self.run([suite] + options + (Self.isDeep ? ["seconds=7200"] : []))
        lines = result.0
        status = result.1
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

    private static func run(_ arguments: [String]) async throws -> ([String], Int32) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try wait(arguments) })
            }
        }
    }

    private static func wait(_ arguments: [String]) throws -> ([String], Int32) {
        let process = Process()
        let output = Pipe()
        process.executableURL = Probe.executable("fault-probe")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        let isSignal = process.terminationReason == .uncaughtSignal
        return (lines, isSignal ? -process.terminationStatus : process.terminationStatus)
    }
}
