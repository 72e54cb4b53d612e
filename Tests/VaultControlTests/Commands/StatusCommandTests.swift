import EngineSupport
import ArgumentParser
import Testing

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
}
