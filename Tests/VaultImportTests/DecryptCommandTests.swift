import Foundation
import TestSupport
import Testing

@testable import VaultImport

/// Programs that open tokens for the importer.
struct DecryptCommandTests {
    private let directory: PrivateDirectory

    init() throws { directory = try PrivateDirectory() }

    /// A program in Python, which gets `line` and says what it answers.
    private func program(_ body: String, end: String = "") throws -> [String] {
        let path = directory.file("decrypt")
        let text = """
            #!/usr/bin/python3
            import os, sys, time
            \(body)
            \(end)
            """
        try FileBytes.write(Array(text.utf8), to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return [path, "an argument"]
    }

    /// Takes off `enc:`, and answers anything else with an empty line.
    private static let opening = """
        for line in sys.stdin:
            print(line[4:].rstrip("\\n") if line.startswith("enc:") else "", flush=True)
        """

    private func plan(_ command: [String]) -> ImportPlan {
        ImportPlan(secrets: SourceSecrets(decryptCommand: command))
    }

    private static func line(_ access: String, _ refresh: String, _ more: String = "") -> String {
        "{\"user\":\"u\",\"provider\":\"acme\",\"access_token\":\"\(access)\",\"refresh_token\":\"\(refresh)\"\(more)}\n"
    }

    @Test func allTokensOfASourceAreOpenedByOneProcess() async throws {
        var text = ""
        for number in 0..<1_000 {
            text += Self.line(
                "enc:access-\(number)", "enc:refresh-\(number)",
                #","id_token":"enc:e30.eyJzdWIiOiJzIn0.cw","id":"\#(number)","client_id":"c\#(number)""#)
        }
        let log = directory.file("starts")
        let command = try program("open(\"\(log)\", \"a\").write(\"started\\n\")\n" + Self.opening)
        let found = try await outcomes(text, plan(command))
        #expect(found.count == 1_000 && found.allSatisfy { $0.name == "login" })
        let logins = found.compactMap { $0.login?.source }
        #expect(logins.map { $0.refreshToken?.reveal() } == (0..<1_000).map { "refresh-\($0)" })
        #expect(logins.map { $0.accessToken?.reveal() } == (0..<1_000).map { "access-\($0)" })
        #expect(logins.allSatisfy { $0.idToken?.reveal() == "e30.eyJzdWIiOiJzIn0.cw" && $0.warnings.isEmpty })
        #expect(try FileBytes.read(log).count == "started\n".utf8.count)
    }

    @Test func programThatWritesWhileReadingDoesNotDeadlock() async throws {
        let long = String(repeating: "x", count: 30_000)
        var text = ""
        for number in 0..<256 { text += Self.line("enc:\(long)\(number)", "enc:r\(number)") }
        let found = try await outcomes(text, plan(try program(Self.opening)))
        #expect(found.count == 256 && found.allSatisfy { $0.login?.source.accessToken?.reveal().count ?? 0 > 30_000 })
    }

    @Test func aValueThatDoesNotOpenIsARejectOnceAnotherHas() async throws {
        let text = Self.line("enc:a", "enc:r") + Self.line("other", "enc:r2") + Self.line("enc:a3", "enc:r3")
        let command = try program(Self.opening)
        let found = try await outcomes(text, plan(command))
        #expect(found.map(\.words) == ["login", "rejected: notDecryptable", "login"])
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(Self.line("other", "another"), plan(command))
        }
        #expect(error?.code == .wrongSecret)
        #expect(error?.message.contains("another") == false)
    }

    @Test func whatIsNothingIsNotSent() async throws {
        let text = Self.line("enc:a", "") + Self.line("None", "enc:r")
        let found = try await outcomes(text, plan(try program(Self.opening)))
        #expect(found.map(\.words) == ["login", "login"])
        #expect(found[0].login?.source.refreshToken == nil && found[1].login?.source.accessToken == nil)
    }

    @Test func bytesThatAreNoTextComeInHexadecimal() async throws {
        let sample = try SampleDatabase(
            "CREATE TABLE t (user, provider, access_token)", "INSERT INTO t VALUES ('u', 'p', X'ff61')")
        let command = try program(
            #"for line in sys.stdin: print("token-" + line.strip()[2:] if line.startswith("\\x") else "", flush=True)"#)
        let found = try await outcomes(ImportSource(path: sample.path, plan: plan(command)))
        #expect(found.first?.login?.source.accessToken?.reveal() == "token-ff61")
    }

    private static let wrong: [(String, String)] = [
        ("sys.exit(3)", "exit code 3"),
        ("sys.stdin.readline(); print(\"one\", flush=True); sys.exit(0)", "after 1 of 2 lines"),
        ("print(\"1\\n2\\n3\", flush=True); sys.stdin.read()", "more lines"),
        ("for line in sys.stdin: print(\"x\" * 2000000, flush=True)", "bytes"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
    ]

    @Test(arguments: wrong)
    func aProgramThatDoesNotDoWhatItMustEndsTheReading(_ body: String, _ words: String) async throws {
        let command = try program(body)
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(Self.line("canary-a", "canary-r"), plan(command))
        }
        #expect(error?.code == .programFailed && error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("canary") == false)
    }

    @Test func aProgramThatFailsAtItsEndHasFailed() async throws {
        let command = try program(Self.opening, end: "sys.exit(5)")
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(Self.line("enc:a", "enc:r"), plan(command))
        }
        #expect(error?.code == .programFailed && error?.message.contains("exit code 5") == true)
    }

    /// Neither a shell nor a path is searched, and what it says about the values is heard by nobody.
    @Test(arguments: [["decrypt"], ["/nonexistent/decrypt"], ["/etc/passwd"], ["/dev/null"]])
    func onlyAProgramIsRun(_ command: [String]) async throws {
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(Self.line("a", "r"), plan(command))
        }
        #expect(error?.code == .programFailed)
    }

    @Test func itGetsNeitherOurVariablesNorOurDirectory() async throws {
        let command = try program(
            #"""
            names = [name for name in os.environ if name.startswith("TOKENVAULT_")]
            for line in sys.stdin: print("%s.%s.%s" % (os.getcwd(), len(names), sys.argv[1:]), flush=True)
            """#)
        unsafe _ = setenv("TOKENVAULT_DECRYPT_TEST", "1", 1)
        let found = try await outcomes(Self.line("a", ""), plan(command))
        #expect(found.first?.login?.source.accessToken?.reveal() == "/.0.['an argument']")
    }

    @Test func msalsCacheHasNothingToOpen() async throws {
        let text = #"{"AccessToken":{"k":{"secret":"s","home_account_id":"h"}}}"#
        let error = await #expect(throws: ImportError.self) { try await outcomes(text, plan(["/bin/cat"])) }
        #expect(error?.code == .unfitPlan)
    }
}
