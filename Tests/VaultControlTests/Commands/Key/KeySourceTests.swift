import Foundation
import Glibc
import Testing
import VaultControl

/// Every way in which a key comes to vaultctl, and what is said of those that do not come.
struct KeySourceTests {
    /// A throw-away identity of age, and its recipient.
    static let identity = "AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6"
    static let recipient = "age16vgnf7fu2ae4y4saqrawzgazwrmyh6f6dj0k6acmxfrey2dgwurqlw0vv0"

    private static let kms = """
        #!/bin/sh
        case "$1" in wrap) base64 -w 0 ;; unwrap) base64 -d ;; esac

        """

    private func made() async throws -> (Harness, bare: [String: String], line: String) {
        let harness = try Harness()
        let made = try await harness.run("init", "--recipient", Self.recipient)
        #expect(made.status == 0, "\(made.error)")
        return (harness, ["TOKENVAULT_VAULT": harness.vault], try String(contentsOfFile: harness.key, encoding: .utf8))
    }

    @Test func eachSourceOpensTheVault() async throws {
        let (harness, bare, line) = try await made()
        let kms = try harness.file("kms", Self.kms, mode: 0o700)
        let added = try await harness.run("key", "add", "--new-wrap-command", "[\"\(kms)\"]", "--label", "KMS")
        #expect(added.status == 0, "\(added.error)")
        let identity = try harness.file("identity", "# kept elsewhere\n\(Self.identity)\n")
        let command = "[\"/bin/cat\", \"\(harness.key)\"]"
        let sources: [([String], String, [String: String])] = [
            (["--key-file", harness.key], "", [:]), (["--key", "-"], line, [:]),
            (["--key", "-"], String(line.dropLast()), [:]), (["--key-command", command], "", [:]),
            ([], "", ["TOKENVAULT_KEY_COMMAND": command]), (["--identity", identity], "", [:]),
            ([], "", ["TOKENVAULT_IDENTITY": identity]),
            (["--allow-environment-key"], "", ["TOKENVAULT_KEY": line]),
            (["--wrap-command", "[\"\(kms)\"]"], "", [:]), ([], "", ["TOKENVAULT_WRAP_COMMAND": "[\"\(kms)\"]"]),
        ]
        for (options, input, environment) in sources {
            let result = try await harness.run(
                ["status", "--brief"] + options, input: input, environment: bare.merging(environment) { $1 })
            #expect(result.status == 0, "\(options) \(environment.keys): \(result.error)")
        }
        let descriptor = unsafe open(harness.key, O_RDONLY)
        let result = try await harness.run("status", "--brief", "--key-fd", "\(descriptor)", environment: bare)
        #expect(result.status == 0, "\(result.error)")
    }

    @Test func whatGivesNoKeyIsToldInWords() async throws {
        let (harness, bare, line) = try await made()
        let token = try harness.file("token", Harness.marker + "token")
        let cases: [([String], String, [String: String], Int32, String)] = [
            ([], "", ["TOKENVAULT_KEY": line], 1, "--allow-environment-key"),
            (["--key", "x"], "", [:], 1, "command line"), (["--key", "-"], "", [:], 7, "the key is empty"),
            (["--passphrase", "-"], "", [:], 7, "the passphrase is empty"),
            (["--key", "-"], String(line.dropLast(9)), [:], 7, "cut short"),
            (["--key", "-"], "hello", [:], 7, "not a key file"),
            (["--key-command", "cat"], "", [:], 1, "JSON array"), (["--key-command", "[]"], "", [:], 1, "JSON array"),
            (["--key-command", "[\"cat\"]"], "", [:], 7, "absolute path"),
            (["--key-command", "[\"/bin/false\"]"], "", [:], 7, "exit code 1"),
            (["--key-fd", "999999"], "", [:], 7, "not open"), (["--credential", "../x"], "", [:], 7, "one file name"),
            (["--credential", "none"], "", [:], 7, "no credentials"),
            (["--identity", token], "", [:], 7, "not an identity"),
            (["--identity", harness.path("none")], "", [:], 7, "no identity file"),
            (["--identity", token, "--key", "-"], line, [:], 1, "cannot be combined"),
            (["--wrap-command", "[\"/bin/false\"]"], "", [:], 7, "does not open"),
        ]
        for (options, input, environment, status, words) in cases {
            let result = try await harness.run(
                ["status", "--brief"] + options, input: input, environment: bare.merging(environment) { $1 })
            #expect(result.status == status, "\(options): \(result.error)")
            #expect(result.error.contains(words), "\(options): \(result.error)")
        }
        // One standard input has one secret.
        let two = try await harness.run(
            "login", "add", "--user", "u", "--key", "-", "--access-token", "-", input: line, environment: bare)
        #expect(two.status == 1 && two.error.contains("only one secret"), "\(two.error)")
        // What others may read is no secret, whatever it is.
        let open = try harness.file("open", Harness.marker + "token", mode: 0o644)
        let refused = try await harness.run("login", "add", "--user", "u", "--access-token-file", open)
        #expect(refused.status == 10 && refused.error.contains("chmod 600"), "\(refused.error)")
    }

    /// A descriptor is read once, and closed: what came out of it cannot be looked at again.
    @Test func whatCameThroughAPipeIsNotMissing() async throws {
        let harness = try Harness()
        try await harness.run("init")
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        #expect(unsafe write(ends[1], "tokenvault-key-1", 16) == 16)
        close(ends[1])
        let refused = try await harness.run("status", "--key-file", "/dev/fd/\(ends[0])")
        #expect(refused.status == 7 && refused.error.contains("is cut short"), "\(refused.error)")
    }

    @Test func keysAreProvenListedAndFollowANewVaultKey() async throws {
        let (harness, bare, _) = try await made()
        let identity = try harness.file("identity", Self.identity)
        let spare = try await harness.run("key", "add", "--new-key-file", harness.path("spare.key"), "--label", "spare")
        let slots = try await harness.run("key", "list", "--json").json["keySlots"] as? [[String: Any]]
        let recovery = try #require(slots?.first { $0["kind"] as? String == "recipient" }?["id"] as? String)
        #expect(slots?.contains { $0["recipient"] as? String == Self.recipient && $0["provenAt"] is NSNull } == true)
        let wrong = try await harness.run("key", "test", recovery)
        #expect(wrong.status == 7 && wrong.error.contains("another slot"), "\(wrong.error)")
        let proven = try await harness.run("key", "test", recovery, "--identity", identity, "--json")
        #expect(try proven.json["provenAt"] is String, "\(proven.error)")
        let listed = try await harness.run("key", "list", "--test", "--json", "--identity", identity)
        let opens = try listed.json["keySlots"] as? [[String: Any]]
        #expect(opens?.filter { $0["opens"] as? Bool == true }.map { $0["id"] as? String } == [recovery])
        let plan = try await harness.run("key", "rekey", "--dry-run")
        #expect(plan.error.contains("- \(spare.line)") && plan.error.contains("+ \(recovery)"), "\(plan.error)")
        #expect(try await harness.run("key", "rekey").status == 1)
        let done = try await harness.run("key", "rekey", "--yes", "--json")
        #expect(try done.json["isWritten"] as? Bool == true, "\(done.error)")
        #expect(try await harness.run("status", "--brief", "--key-file", harness.path("spare.key")).status == 7)
        #expect(try await harness.run("status", "--brief", "--identity", identity, environment: bare).status == 0)
        #expect(try await harness.run("verify").status == 0)
    }

    @Test func aKeyProgramIsStoppedWithItsCaller() async throws {
        let (harness, _, _) = try await made()
        let start = ContinuousClock.now
        let stopped = try await Program(harness: harness).shell(
            """
            unset TOKENVAULT_KEY_FILE; "$vaultctl" status --key-command '["/bin/sleep","25"]' &
            sleep 2; kill -TERM $!; wait $!
            """)
        #expect(stopped.status == 143, "\(stopped.error)")
        #expect(!stopped.error.contains("finishing the work in progress"), "\(stopped.error)")
        #expect(.now - start < .seconds(20))
    }

    @Test func aCredentialOfSystemdOpensTheVault() async throws {
        let (harness, _, _) = try await made()
        let folder = harness.path("credentials")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: harness.key, toPath: folder + "/vault.key")
        #expect(unsafe chmod(folder + "/vault.key", 0o400) == 0 && chmod(folder, 0o500) == 0)
        defer { unsafe chmod(folder, 0o700) }
        let service = "unset TOKENVAULT_KEY_FILE; export CREDENTIALS_DIRECTORY=\"$dir/credentials\""
        let opened = try await Program(harness: harness).shell(
            "\(service); \"$vaultctl\" status --brief --credential vault.key")
        #expect(opened.status == 0, "\(opened.error)")
        let named = try await Program(harness: harness).shell(
            "\(service); TOKENVAULT_CREDENTIAL=vault.key \"$vaultctl\" verify")
        #expect(named.status == 0, "\(named.error)")
        let missing = try await Program(harness: harness).shell("\(service); \"$vaultctl\" status --credential other")
        #expect(missing.status == 7 && missing.error.contains("there is no credential other"), "\(missing.error)")
        #expect(missing.error.contains("the credentials there are: vault.key"), "\(missing.error)")
        #expect(missing.error.contains("LoadCredential=other:PATH"), "\(missing.error)")
        #expect(unsafe chmod(folder + "/vault.key", 0o444) == 0)
        let exposed = try await Program(harness: harness).shell(
            "\(service); \"$vaultctl\" status --credential vault.key")
        #expect(exposed.status == 7 && exposed.error.contains("chmod 600"), "\(exposed.error)")
    }

    @Test func aWrappedSlotFollowsANewVaultKeyIfItsProgramIsNamed() async throws {
        let (harness, bare, _) = try await made()
        var slots: [String] = []
        for name in ["kms", "tpm"] {
            // Each refuses what the other one has wrapped.
            let program = try harness.file(
                name,
                """
                #!/bin/sh
                case "$1" in
                wrap) printf '\(name) '; base64 -w 0 ;;
                unwrap) read -r by key; [ "$by" = \(name) ] || { echo "not of \(name)" >&2; exit 1; }
                        printf '%s' "$key" | base64 -d ;;
                esac

                """, mode: 0o700)
            let added = try await harness.run("key", "add", "--new-wrap-command", "[\"\(program)\"]", "--label", name)
            #expect(added.status == 0, "\(added.error)")
            slots.append(added.line)
        }
        let (kms, tpm) = ("[\"\(harness.path("kms"))\"]", "[\"\(harness.path("tpm"))\"]")
        let none = try await harness.run("key", "rekey", "--dry-run")
        #expect(none.error.contains("- \(slots[0])") && none.error.contains("- \(slots[1])"), "\(none.error)")
        let cases = [("kms", 1, "JSON array"), ("[]", 1, "JSON array"), ("[\"/bin/false\"]", 7, "exit code 1")]
        for (text, status, words) in cases {
            let refused = try await harness.run("key", "rekey", "--yes", "--also-wrap-command", text)
            #expect(refused.status == status && refused.error.contains(words), "\(refused.error)")
        }
        let both = try await harness.run(
            "key", "rekey", "--dry-run", "--also-wrap-command", tpm, "--also-wrap-command", kms)
        #expect(both.error.contains("+ \(slots[0])") && both.error.contains("+ \(slots[1])"), "\(both.error)")
        let done = try await harness.run("key", "rekey", "--yes", "--also-wrap-command", kms)
        #expect(done.error.contains("+ \(slots[0])") && done.error.contains("- \(slots[1])"), "\(done.error)")
        for (program, status) in [(kms, 0), (tpm, 7)] {
            let opened = try await harness.run("status", "--brief", "--wrap-command", program, environment: bare)
            #expect(opened.status == status, "\(opened.error)")
        }
    }

    @Test func doctorNamesWhatCouldLoseTheVault() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let alone = try await harness.run("doctor")
        #expect(alone.status == 3 && alone.output.contains("warning\tkeySlots\t\tonly one key"), "\(alone.output)")
        try await harness.run("key", "add", "--recipient", Self.recipient)
        let both = try await harness.run("doctor")
        #expect(
            both.status == DoctorTests.statusOfHealth.rawValue && both.output.contains("was never proven"),
            "\(both.output)")
        let line = try String(contentsOfFile: harness.key, encoding: .utf8)
        let exposed = try await harness.run(
            "doctor", "--allow-environment-key",
            environment: ["TOKENVAULT_VAULT": harness.vault, "TOKENVAULT_KEY": line])
        #expect(exposed.status == 3 && exposed.output.contains("environment variable"), "\(exposed.output)")
    }
}
