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

    /// Everything on standard error, for programs that collect it.
    @Test func asAnObjectOnEachLine() async throws {
        let text = try await Harness().output { console in
            var invocation = Invocation(console: console, isJSON: false, isQuiet: false)
            invocation.logsJSON = true
            invocation.logger.warning("new tokens could not be stored yet", metadata: ["vault-login-handle": "abc"])
            invocation.note("note: x\u{1B}[2J")
            invocation.warn("careful")
            invocation.hint("none")
            invocation.report(Failure(.notFound, "there is no vault", hints: ["make one"]))
        }
        let objects = try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
        #expect(objects.count == 4, "\(text)")
        #expect(objects.allSatisfy { ($0["time"] as? String)?.hasSuffix("Z") == true })
        let logs = objects.compactMap { $0["log"] as? [String: Any] }
        #expect(logs.map { $0["level"] as? String } == ["warning", "info", "warning", "error"])
        #expect(logs.last?["message"] as? String == "there is no vault")
        #expect((objects.last?["error"] as? [String: Any])?["hints"] as? [String] == ["make one"])
        #expect(!text.contains("\u{1B}"))
    }

    @Test func theFormatComesFromTheOptionOrTheEnvironment() async throws {
        let harness = try Harness()
        let option = try await harness.run("status", "--log-format", "json")
        #expect(option.status == 2)
        #expect(option.error.hasPrefix(#"{"time":"20"#) && option.output.isEmpty, "\(option.error)")
        var environment = harness.environment
        environment["TOKENVAULT_LOG_FORMAT"] = "json"
        #expect(try await harness.run(["status"], environment: environment).error.hasPrefix(#"{"time":"20"#))
        environment["TOKENVAULT_LOG_FORMAT"] = "xml"
        let wrong = try await harness.run(["status"], environment: environment)
        #expect(wrong.status == 1)
        #expect(wrong.error.contains("TOKENVAULT_LOG_FORMAT is not a log format: xml"))
    }
}
