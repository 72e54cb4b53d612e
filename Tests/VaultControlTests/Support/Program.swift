import Foundation
import Glibc
import Testing

/// The built program as a process of its own.
struct Program {
    static let path: String? = {
        let directory = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }?
            .deletingLastPathComponent()
        let nearby = directory ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let path = nearby.appending(path: "vaultctl").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    let harness: Harness

    /// Runs `script` in a shell, where `$vaultctl` is the program.
    func shell(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> RunResult {
        let path = try #require(Self.path)
        let output = harness.path(".shell-out-\(UUID().uuidString)")
        let error = harness.path(".shell-err-\(UUID().uuidString)")
        var environment = harness.environment
        environment["PATH"] = "/usr/bin:/bin"
        environment["vaultctl"] = path
        environment["dir"] = harness.directory
        let status = try await Self.spawn(
            "/bin/sh", ["-c", "exec >'\(output)' 2>'\(error)' </dev/null\n" + script], environment)
        let result = RunResult(
            status: status, output: (try? String(contentsOfFile: output, encoding: .utf8)) ?? "",
            error: (try? String(contentsOfFile: error, encoding: .utf8)) ?? "")
        result.expectNoCanary(revealing: script.contains("--reveal"), sourceLocation)
        return result
    }

    /// Runs a program on a thread of its own: waiting for a process blocks, and the threads of tasks are few.
    static func spawn(_ path: String, _ arguments: [String], _ environment: [String: String]) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let process = Process()
                process.executableURL = URL(filePath: path)
                process.arguments = arguments
                process.environment = environment
                do {
                    try process.run()
                    process.waitUntilExit()
                    let isSignal = process.terminationReason == .uncaughtSignal
                    continuation.resume(returning: process.terminationStatus + (isSignal ? 128 : 0))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
