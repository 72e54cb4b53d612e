package import Foundation

/// The programs that are built beside the tests.
package enum BuiltProgram {
    /// Nil if it was not built.
    package static func url(_ name: String) -> URL? {
        folders.map { $0.appendingPathComponent(name) }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }

    /// The program that runs now, for probes that start others of their kind.
    package static func current() throws -> URL {
        URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    }

    /// The tests are the program itself, or a bundle that a runner of the toolchain has loaded.
    private static var folders: [URL] {
        let bundles = CommandLine.arguments.filter { $0.hasSuffix(".xctest") }.map { URL(fileURLWithPath: $0) }
        let loaded = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let programs = (try? current()).map { [$0] } ?? []
        return (programs + bundles + loaded).map { $0.deletingLastPathComponent() } + [Bundle.main.bundleURL]
    }
}

/// What a program left behind that has ended.
package struct ProgramRun: Sendable {
    /// As a shell gives it: 128 and the signal's number if one ended the process.
    package let exitCode: Int32
    /// What it wrote to standard output.
    package let output: String

    package var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs a program to its end, on a thread of its own: waiting for a process blocks, and the threads of tasks are few.
    package init(
        _ program: URL?, _ arguments: [String], environment: [String: String]? = nil
    ) async throws {
        self = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try ProgramRun(blocking: program, arguments, environment: environment) })
            }
        }
    }

    /// Runs a program to its end and blocks the thread meanwhile.
    package init(blocking program: URL?, _ arguments: [String], environment: [String: String]? = nil) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        exitCode = process.exitCode
        self.output = String(decoding: data, as: UTF8.self)
    }
}

extension Process {
    /// As a shell gives it: 128 and the signal's number if one ended the process.
    package var exitCode: Int32 { terminationStatus + (terminationReason == .uncaughtSignal ? 128 : 0) }
}
