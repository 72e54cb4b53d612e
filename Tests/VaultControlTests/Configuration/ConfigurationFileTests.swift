import Foundation
import Testing
import VaultAdministration

@testable import VaultControl

/// The file that stands in for options and variables.
struct ConfigurationFileTests {
    /// A vault that only a configuration file names.
    private static func harness(_ more: String = "") async throws -> Harness {
        let harness = try Harness()
        try await harness.run("init")
        try harness.file(
            "vaultctl.toml",
            """
            # The vault of the tests.
            vault = "\(harness.vault)"   # where it is

            \tkey-file="\(harness.key)"
            \(more)
            """)
        return harness
    }

    private static func status(_ harness: Harness, _ environment: [String: String], _ options: String...) async throws
        -> RunResult
    {
        try await harness.run(["status", "--brief", "--json"] + options, environment: environment)
    }

    @Test func itNamesTheVaultAndItsKey() async throws {
        let harness = try await Self.harness("passphrase-memory-limit = \"512M\"\ntrust-file-system = false\r\n")
        let path = harness.path("vaultctl.toml")
        for (environment, options) in [(["TOKENVAULT_CONFIG": path], []), ([:], ["--config", path])] {
            let result = try await harness.run(["status", "--brief", "--json"] + options, environment: environment)
            #expect(result.status == 0, "\(result.error)")
            #expect(try result.json["configuration"] as? String == path)
            #expect(try result.json["vault"] as? String == harness.vault)
        }
        let doctor = try await harness.run("doctor", "--json", environment: ["TOKENVAULT_CONFIG": path]).json
        let findings = try #require(doctor["findings"] as? [[String: Any]])
        let finding = try #require(findings.first { $0["check"] as? String == "configuration" })
        #expect(finding["subject"] as? String == path)
        #expect(finding["text"] as? String == "sets vault, key-file, passphrase-memory-limit, trust-file-system")
        let without = try await harness.run("status", "--brief", "--json").json
        #expect(without["configuration"] is NSNull)
    }

    @Test func itSaysHowLogLinesAreWritten() async throws {
        let harness = try await Self.harness("log-format = \"json\"")
        var environment = ["TOKENVAULT_CONFIG": harness.path("vaultctl.toml")]
        func isJSON(_ options: String...) async throws -> Bool {
            let result = try await harness.run(["user", "show", "nobody"] + options, environment: environment)
            #expect(result.status == 2)
            return result.error.hasPrefix(#"{"time":"20"#)
        }
        #expect(try await isJSON())
        #expect(try await !isJSON("--log-format", "text"))
        environment["TOKENVAULT_LOG_FORMAT"] = "text"
        #expect(try await !isJSON())
        environment["TOKENVAULT_LOG_FORMAT"] = nil
        try harness.file("vaultctl.toml", "log-format = \"xml\"")
        let wrong = try await harness.run(["status"], environment: environment)
        #expect(wrong.status == 1 && wrong.error.contains("log-format is none of text, json"), "\(wrong.error)")
        #expect(wrong.error.contains("for example: log-format = \"json\""))
    }

    @Test func optionsComeBeforeVariablesAndTheseBeforeTheFile() async throws {
        let harness = try await Self.harness()
        let path = harness.path("vaultctl.toml")
        let other = harness.path("other.vault")
        let key = harness.path("other.key")
        try await harness.run("init", "--vault", other, "--key-file", key)
        let third = harness.path("third.vault")
        try await harness.run("init", "--vault", third, "--key-file", key)
        var environment = ["TOKENVAULT_CONFIG": path, "TOKENVAULT_VAULT": "", "TOKENVAULT_KEY_FILE": ""]
        #expect(try await Self.status(harness, environment).json["vault"] as? String == harness.vault)
        environment["TOKENVAULT_VAULT"] = other
        environment["TOKENVAULT_KEY_FILE"] = key
        #expect(try await Self.status(harness, environment).json["vault"] as? String == other)
        #expect(try await Self.status(harness, environment, "--vault", third).json["vault"] as? String == third)
    }

    /// Otherwise it would depend on the kind of key which of the two counts.
    @Test func keyVariableReplacesEveryKeyInTheFile() async throws {
        let harness = try await Self.harness()
        let environment = ["TOKENVAULT_CONFIG": harness.path("vaultctl.toml"), "TOKENVAULT_IDENTITY": "/no/identity"]
        let result = try await Self.status(harness, environment)
        #expect(result.status == 7)
        #expect(result.error.contains("/no/identity"), "\(result.error)")
    }

    @Test func theUsersOwnFileComesBeforeThatOfTheMachine() async throws {
        let harness = try await Self.harness()
        let manager = FileManager.default
        let content = try String(contentsOfFile: harness.path("vaultctl.toml"), encoding: .utf8)
        for place in ["home/.config", "xdg", "etc"] {
            try manager.createDirectory(
                atPath: harness.path(place + "/tokenvault"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
            try harness.file(place + "/tokenvault/vaultctl.toml", content)
        }
        let find = { (environment: [String: String]) in
            try ConfigurationFile.find(named: nil, environment, machine: harness.path("etc"))?.path
        }
        let home = harness.path("home")
        #expect(try find([:]) == harness.path("etc/tokenvault/vaultctl.toml"))
        #expect(try find(["HOME": home]) == home + "/.config/tokenvault/vaultctl.toml")
        #expect(
            try find(["HOME": home, "XDG_CONFIG_HOME": harness.path("xdg")])
                == harness.path("xdg/tokenvault/vaultctl.toml"))
        #expect(try find(["HOME": "/no/home"]) == harness.path("etc/tokenvault/vaultctl.toml"))
        #expect(try find(["HOME": home, "TOKENVAULT_CONFIG": "/dev/null"]) == nil)
    }

    @Test(arguments: [
        ("vualt = \"/v\"", "line 1, column 1: there is no setting vualt", "did you mean: vault"),
        ("\n# x\n  vault \"/v\"", "line 3, column 9: expected = after vault", ""),
        ("vault = /v", "line 1, column 9: expected a value", ""),
        ("vault = yes", "line 1, column 9: a text goes into double quotation marks", "vault = \""),
        ("vault = \"v\"", "line 1, column 9: vault is not an absolute path", "begin the path with /"),
        ("vault = true", "line 1, column 9: vault does not take this value", "vault = \"/var/lib/app/app.vault\""),
        ("vault = \"/v", "line 1, column 12: the text has no closing quotation mark", ""),
        ("vault = \"/v\" x", "line 1, column 14: expected the end of the line", ""),
        ("vault = \"/v\\n\"", "line 1, column 13: only \\\\ and \\\" are written with a backslash", ""),
        ("vault = \"/v\"\nvault = \"/w\"", "line 2, column 1: vault is set twice", ""),
        ("[vault]", "line 1, column 1: sections are not used here", ""),
        ("= 1", "line 1, column 1: expected the name of a setting", ""),
        ("key-file = \"/k\"\nidentity = \"/i\"", "line 2, column 1: key-file and identity cannot be combined", ""),
        ("passphrase-memory-limit = \"1\"", "column 27: passphrase-memory-limit is not a size", "\"512M\""),
        ("key-command = [\"pass\"]", "column 15: key-command does not begin with an absolute path", "/usr/bin/pass"),
        ("key-command = \"/usr/bin/pass\"", "column 15: key-command does not take this value", "/usr/bin/pass"),
        ("key-command = [\"/bin/a\" \"b\"]", "column 25: expected , or ]", ""),
        ("key-command = [\"/bin/a\", 1]", "column 26: expected a text in quotation marks, or ]", ""),
        ("trust-file-system = \"1\"", "column 21: trust-file-system does not take this value", "= true"),
        ("passphrase = \"CANARY-pass\"", "line 1, column 1: a secret does not belong in this file", "key-file"),
        ("key = \"CANARY-key\"", "line 1, column 1: a secret does not belong in this file", "key-command"),
        ("allow-environment-key = true", "there is no setting allow-environment-key", ""),
    ])
    func whatIsWrongIsSaidWithItsPlace(_ text: String, _ message: String, _ hint: String) async throws {
        let harness = try Harness()
        let path = try harness.file("bad.toml", text)
        let result = try await harness.run("status", "--config", path)
        #expect(result.status == 1)
        let lines = result.error.split(separator: "\n")
        #expect(lines.first?.hasPrefix("vaultctl: error: \(path), line ") == true, "\(result.error)")
        #expect(lines.first?.contains(message) == true, "\(result.error)")
        #expect(hint.isEmpty || lines.contains { $0.hasPrefix("hint: ") && $0.contains(hint) }, "\(result.error)")
    }

    @Test func programsAndTextsAreReadAsTOMLWritesThem() throws {
        let text = "key-command = [ \"/bin/a\", \"b c\", \"\\\"\\\\#\", ] # end"
        let settings = try ConfigurationFile.parse(text, of: "f")
        #expect(settings.map(\.setting.name) == ["key-command"])
        #expect(try ProgramArguments.parse(settings[0].text, "x") == ["/bin/a", "b c", "\"\\#"])
    }

    @Test func aFileThatOthersCanWriteIsRefused() async throws {
        let harness = try await Self.harness()
        let path = harness.path("vaultctl.toml")
        for mode in [0o620, 0o602, 0o666] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let result = try await harness.run("status", "--config", path)
            #expect(result.status == 10)
            #expect(result.error.contains("other users can write to the configuration file \(path)"))
            #expect(result.error.contains("hint: chmod go-w \(path)"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try await harness.run("status", "--brief", "--config", path).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: harness.directory)
        let result = try await harness.run("status", "--brief", "--config", path)
        #expect(result.status == 10)
        #expect(result.error.contains("the configuration file's directory"))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: harness.directory)
    }

    @Test func aFileThatIsNamedMustBeThere() async throws {
        let harness = try Harness()
        let missing = try await harness.run("status", "--config", "/no/such/file")
        #expect(missing.status == 2)
        #expect(missing.error.contains("cannot be read from /no/such/file (--config): no such file"))
        let directory = try await harness.run("status", "--config", harness.directory)
        #expect(directory.status == 1)
        #expect(directory.error.contains("\(harness.directory) (--config) is a directory"))
        let bytes = harness.path("bytes")
        try Data([0xFF]).write(to: URL(filePath: bytes))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bytes)
        #expect(try await harness.run("status", "--config", bytes).error.contains("is not UTF-8 text"))
        // What needs no vault needs no file either.
        #expect(try await harness.run("version", environment: ["TOKENVAULT_CONFIG": "/no/such/file"]).status == 0)
    }
}
