import Foundation
import TestSupport
import Testing

/// A process of `vaultctl maintain`, and what it has said so far.
struct Maintainer {
    let process = Process()
    let errors: String
    private let output: String

    /// - Parameter more: Variables of its environment, besides those of the harness.
    init(_ harness: Harness, _ more: [String: String] = [:]) throws {
        errors = harness.path("errors-\(UUID().uuidString)")
        process.executableURL = URL(filePath: try #require(Program.path))
        process.arguments = ["maintain", "--json"]
        process.environment = harness.environment.merging(more) { $1 }
        process.standardInput = FileHandle.nullDevice
        output = harness.path("output-\(UUID().uuidString)")
        func file(_ path: String) throws -> FileHandle {
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            return try FileHandle(forWritingTo: URL(filePath: path))
        }
        process.standardOutput = try file(output)
        process.standardError = try file(errors)
        try process.run()
    }

    var words: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    /// What it has printed at its end.
    var result: [String: Any] {
        get throws {
            let data = try Data(contentsOf: URL(filePath: output))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(words)")
        }
    }

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
