import Foundation
import TestSupport
import Testing

/// A process of `vaultctl maintain`, and what it has said so far.
struct Maintainer {
    let process = Process()
    let errors: String

    /// - Parameter more: Variables of its environment, besides those of the harness.
    init(_ harness: Harness, _ more: [String: String] = [:]) throws {
        errors = harness.path("errors-\(UUID().uuidString)")
        process.executableURL = URL(filePath: try #require(Program.path))
        process.arguments = ["maintain"]
        process.environment = harness.environment.merging(more) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        #expect(FileManager.default.createFile(atPath: errors, contents: nil))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.run()
    }

    var words: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    func hasSaid(_ text: String) async throws {
        try await eventually {
            if words.contains(text) { return true }
            try #require(process.isRunning, "\(words)")
            return false
        }
    }

    func end() async -> Int32 {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(20)) }
        return process.exitCode
    }
}
