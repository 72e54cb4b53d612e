import Foundation
import Logging
import Testing

@testable import VaultControl

/// What the library logs, as vaultctl says it.
struct LogLineTests {
    private static func log(_ invocation: (Console) -> Invocation) async throws -> String {
        try await Harness().output { console in
            let logger = invocation(console).logger
            logger.debug("a step", metadata: ["ending": "renewed"])
            logger.notice("good to know")
            logger.warning(
                "new tokens could not be stored yet",
                metadata: ["vault-login-handle": "abc", "vault-provider-handle": "x\u{1B}[2J\ny"])
            logger.error("new tokens are lost")
        }
    }

    private static let warning =
        #"vaultctl: warning: new tokens could not be stored yet (login abc, provider x\u{1b}[2J\ny)"# + "\n"

    @Test func warningsAreInTheProgramsOwnStyle() async throws {
        let text = try await Self.log { Invocation(console: $0, isJSON: false, isQuiet: false) }
        #expect(text == Self.warning + "vaultctl: error: new tokens are lost\n")
    }

    @Test func verboseShowsAll() async throws {
        let text = try await Self.log { Invocation(console: $0, isJSON: false, isQuiet: false, isVerbose: true) }
        let front = "vaultctl: debug: a step (ending renewed)\nvaultctl: notice: good to know\n"
        #expect(text == front + Self.warning + "vaultctl: error: new tokens are lost\n")
    }

    @Test func quietShowsErrorsOnly() async throws {
        let text = try await Self.log { Invocation(console: $0, isJSON: false, isQuiet: true) }
        #expect(text == "vaultctl: error: new tokens are lost\n")
    }

    @Test func withJSONEachLineIsAnObject() async throws {
        let text = try await Self.log { Invocation(console: $0, isJSON: true, isQuiet: false) }
        let lines = text.split(separator: "\n")
        #expect(
            lines.first
                == #"{"log":{"level":"warning","message":"new tokens could not be stored yet","metadata":{"vault-login-handle":"abc","vault-provider-handle":"x\u001b[2J\ny"}}}"#
        )
        #expect(lines.last == #"{"log":{"level":"error","message":"new tokens are lost","metadata":{}}}"#)
        #expect(lines.count == 2)
    }
}
