import Foundation
import Glibc
import TestSupport
import Testing

/// The built program as a process of its own.
struct Program {
    static let path = BuiltProgram.url("vaultctl")?.path

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
        let run = try await ProgramRun(
            URL(filePath: "/bin/sh"), ["-c", "exec >'\(output)' 2>'\(error)' </dev/null\n" + script],
            environment: environment)
        let result = RunResult(
            status: run.exitCode, output: (try? String(contentsOfFile: output, encoding: .utf8)) ?? "",
            error: (try? String(contentsOfFile: error, encoding: .utf8)) ?? "")
        result.expectNoCanary(revealing: script.contains("--reveal"), sourceLocation)
        return result
    }
}
