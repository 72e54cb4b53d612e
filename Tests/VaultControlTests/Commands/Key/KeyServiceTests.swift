import Foundation
import Testing
import VaultControl

/// Keys by what they are: one key is one key, and a service that is slow is no wrong key.
struct KeyServiceTests {
    @Test func theSameKeyTwiceIsRefused() async throws {
        let harness = try Harness()
        try await harness.run("init", "--recipient", KeySourceTests.recipient)
        try harness.file("passphrase", "correct horse battery staple")
        let passphrase = ["key", "add", "--new-passphrase-file", harness.path("passphrase")]
        #expect(try await harness.run(passphrase).status == 0)
        for arguments in [
            ["key", "add", "--new-key-file", harness.key], ["key", "add", "--recipient", KeySourceTests.recipient],
            passphrase,
        ] {
            let again = try await harness.run(arguments)
            #expect(again.status == ExitStatus.usage.rawValue, "\(arguments)")
            #expect(again.error.contains("opens the vault already, by the key slot"), "\(again.error)")
        }
        let slots = try await harness.run("key", "list", "--json").json["keySlots"] as? [Any]
        #expect(slots?.count == 3)
    }

    @Test func aServiceThatIsBusyIsToldFromAWrongKey() async throws {
        let harness = try Harness()
        try await harness.run("init")
        func program(_ unwrap: String) throws -> String {
            let text = "#!/bin/sh\ncase $1 in wrap) base64 -w 0 ;; unwrap) \(unwrap) ;; esac\n"
            return "[\"\(try harness.file("kms", text, mode: 0o700))\"]"
        }
        let command = try program("base64 -d")
        #expect(try await harness.run("key", "add", "--new-wrap-command", command).status == 0)
        for (unwrap, status) in [
            ("echo ThrottlingException >&2; exit 75", ExitStatus.busy), ("sleep 60", .busy), ("exit 1", .key),
            ("head -c 32 /dev/zero", .key), ("base64 -d", .success),
        ] {
            let run = try await harness.run(
                ["status", "--wrap-command", try program(unwrap)], environment: ["TOKENVAULT_VAULT": harness.vault])
            #expect(run.status == status.rawValue, "\(unwrap): \(run.error)")
        }
        // The line of a key, too.
        for (arguments, status) in [("/bin/sh\", \"-c\", \"exit 75", ExitStatus.busy), ("/bin/false", .key)] {
            let run = try await harness.run(
                ["status", "--key-command", "[\"\(arguments)\"]"], environment: ["TOKENVAULT_VAULT": harness.vault])
            #expect(run.status == status.rawValue, "\(arguments): \(run.error)")
        }
    }

    @Test func twoKeysInTheEnvironmentAreRefused() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let names = [
            "KEY_FILE", "PASSPHRASE_FILE", "CREDENTIAL", "KEY_COMMAND", "WRAP_COMMAND", "IDENTITY",
        ].map { "TOKENVAULT_" + $0 }
        func value(_ name: String) -> String { name.hasSuffix("COMMAND") ? #"["/bin/cat"]"# : harness.key }
        for (index, one) in names.enumerated() {
            for two in names[(index + 1)...] {
                let run = try await harness.run(
                    ["status"], environment: ["TOKENVAULT_VAULT": harness.vault, one: value(one), two: value(two)])
                #expect(run.status == ExitStatus.usage.rawValue, "\(one) \(two)")
                #expect(run.error.contains(one) && run.error.contains(two), "\(run.error)")
                // An option says which is meant.
                let named = try await harness.run(
                    ["status", "--key-file", harness.key],
                    environment: ["TOKENVAULT_VAULT": harness.vault, one: value(one), two: value(two)])
                #expect(named.status == 0, "\(named.error)")
            }
        }
    }

    @Test func doctorReportsVariablesThatDoNothing() async throws {
        let harness = try Harness()
        try await harness.run("init")
        let slips = ["TOKENVAULT_WITNES": "/mnt/app.witness", "TOKENVAULT_KEYFILE": "/x"]
        let said = try await harness.run(
            ["doctor"], environment: harness.environment.merging(slips) { $1 })
        #expect(slips.keys.allSatisfy { said.output.contains($0) } && said.output.contains("no effect"))
        #expect(try await harness.run("doctor").output.contains("no effect") == false)
    }
}
