import Foundation
import Testing

/// The simulation takes over Swift's concurrency, so it runs in a process of its own. Here is a small part of it;
/// `scripts/simulate` plays more.
@Suite(.timeLimit(.minutes(10)))
struct SimulationTests {
    /// Built beside the tests.
    private static let program: URL = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") || $0.contains(".xctest/") }
        let directory = bundle.map { URL(fileURLWithPath: $0).deletingLastPathComponent() } ?? Bundle.main.bundleURL
        return directory.appendingPathComponent("simulate")
    }()

    private func simulate(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test func aThousandSchedulesKeepTheInvariants() throws {
        let (status, output) = try simulate("--from", "900001", "--schedules", "1000")
        #expect(status == 0, "\(output)")
        print(output, terminator: "")
    }

    @Test func keptSeedsKeepTheInvariants() throws {
        let (status, output) = try simulate("--kept")
        #expect(status == 0, "\(output)")
    }

    @Test func theSameSeedGivesTheSameTraceInAnotherProcess() throws {
        for seed in ["1", "77", "4711"] {
            let first = try simulate("--seed", seed, "--trace")
            let second = try simulate("--seed", seed, "--trace")
            #expect(first.output == second.output)
            #expect(first.output.contains("hash "))
            #expect(first.output.split(separator: "\n").count > 10)
        }
        #expect(try simulate("--seed", "1").output != simulate("--seed", "2").output)
    }

    @Test func wrongArgumentsAreRefused() throws {
        #expect(try simulate("--sed", "1").status == 1)
    }
}
