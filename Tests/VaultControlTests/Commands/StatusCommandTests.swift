import ArgumentParser
import EngineSupport
import Testing
import VaultAdministration
import VaultCrypto

@testable import VaultControl

@Suite(.tags(.everyEngine))
struct StatusCommandTests {
    @Test func manyLoginsAreOnlyReadIfAskedFor() throws {
        let cases: [([String], Int, Bool)] = [
            ([], 50_000, true), ([], 50_001, false), (["--all"], 1_000_000, true),
            (["--provider", "acme"], 1_000_000, true), (["--brief"], 1, false),
        ]
        for (arguments, count, isRead) in cases {
            #expect(try StatusCommand.parse(arguments).readsLogins(count) == isRead, "\(arguments), \(count)")
        }
        for arguments in [["--brief", "--all"], ["--brief", "--provider", "acme"]] {
            #expect(throws: (any Error).self) { try StatusCommand.parse(arguments) }
        }
    }

    /// `full` would read as if there were no more.
    @Test func lockedMemoryReadsAsWhatItIs() async throws {
        #expect(StatusCommand.words(for: .full) == "all keys are kept out of swap")
        for memory in [LockedMemoryState.partial, .none] {
            #expect(StatusCommand.words(for: memory).contains("may be written to swap"))
        }
        let harness = try Harness()
        try await harness.run("init")
        let text = try await harness.run("status").output
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("locked memory") })
        #expect(line.hasSuffix("swap"))
        let word = try await harness.run("status", "--json").json["lockedMemory"] as? String
        #expect(["full", "partial", "none"].contains(word))
    }
}
