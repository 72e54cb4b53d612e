import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// The scripts of `packaging/wrapping`: the contract of docs/keys.md, kept with each service.
struct WrappingScriptTests {
    /// Exactly the arguments that are expected, so none can hold the key.
    @Test(arguments: WrappingService.all)
    func aKeyGoesThroughStandardInputAndComesBack(_ service: WrappingService) async throws {
        let script = try WrappingScript(service)
        let wrapped = try await script.run("wrap", input: "key")
        #expect(wrapped.status == 0, "\(wrapped.error)")
        #expect((1...4096).contains(wrapped.output.count) && wrapped.output != WrappingScript.key)
        #expect(try arguments(script) == service.wrapping)
        let names = wrapped.error.split(separator: "\n").filter { $0.hasPrefix("key-name: ") }
        #expect(names.count == (service.name == "tpm2" ? 0 : 1))
        try wrapped.output.write(to: URL(filePath: script.directory.file("wrapped")))
        let unwrapped = try await script.run("unwrap", input: "wrapped")
        #expect(unwrapped.status == 0, "\(unwrapped.error)")
        #expect(unwrapped.output == WrappingScript.key)
        #expect(try arguments(script) == service.unwrapping)
    }

    @Test(arguments: WrappingService.all)
    func aKeyOfAnotherSlotIsRefused(_ service: WrappingService) async throws {
        let script = try WrappingScript(service)
        let wrapped = try await script.run("wrap", input: "key")
        try wrapped.output.write(to: URL(filePath: script.directory.file("wrapped")))
        let moved = try await script.run("unwrap", input: "wrapped", slot: WrappingScript.vault)
        #expect(moved.status == 1 && moved.output.isEmpty, "\(moved.error)")
        #expect(moved.error.contains("another"))
    }

    @Test(arguments: WrappingService.all)
    func whatIsWorthTryingAgainIsToldFromARefusal(_ service: WrappingService) async throws {
        let script = try WrappingScript(service)
        let wrapped = try await script.run("wrap", input: "key")
        try wrapped.output.write(to: URL(filePath: script.directory.file("wrapped")))
        for (words, status) in [(service.busy, Int32(75)), ("access denied", 1)] {
            try script.fail(words)
            for (verb, input) in [("wrap", "key"), ("unwrap", "wrapped")] {
                let outcome = try await script.run(verb, input: input)
                #expect(outcome.status == status && outcome.output.isEmpty, "\(verb): \(outcome.error)")
                #expect(outcome.error.contains(words))
            }
        }
    }

    /// A JWE says itself which pin opens it, and from which server. Who can write the vault can make one.
    @Test(
        .enabled(if: WrappingService.hasJose),
        arguments: [
            (#"{"clevis":{"pin":"null","null":{}}}"#, "null"),
            (#"{"clevis":{"pin":"tang","tang":{"url":"http://evil.example"}}}"#, "http://evil.example"),
            (#"{"clevis":{"pin":"tang","tang":{}}}"#, "server"), (#"{"clevis":{"pin":"tpm2","tpm2":{}}}"#, "tpm2"),
            (#"{"clevis":{"pin":"sss","sss":{"t":1,"jwe":["x"]}}}"#, "sss"), (#"{"clevis":{}}"#, "pin"), ("[]", "pin"),
            ("", "pin"),
        ])
    func clevisOpensOnlyWhatWasWrappedAsConfigured(_ header: String, _ words: String) async throws {
        let script = try WrappingScript(.clevis)
        let wrapped = try await script.run("wrap", input: "key")
        let payload = String(decoding: wrapped.output, as: UTF8.self).drop { $0 != "." }
        let forged = Data(header.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        try Data((forged.filter { $0 != "=" } + payload).utf8).write(to: URL(filePath: script.directory.file("forged")))
        let unwrapped = try await script.run("unwrap", input: "forged")
        #expect(unwrapped.status == 1 && unwrapped.output.isEmpty)
        #expect(unwrapped.error.contains(words), "\(unwrapped.error)")
    }

    /// With the real clevis: what the pin null has wrapped opens without any key.
    @Test(.enabled(if: WrappingService.hasJose && isExecutable("/usr/bin/clevis")))
    func thePinNullIsRefused() async throws {
        let script = try WrappingScript(.clevis)
        let call = #"printf '%s' "$1" | /usr/bin/clevis encrypt null '{}' >"$2""#
        let plaintext = "\(WrappingScript.vault)/\(WrappingScript.slot) AAAA"
        let run = try await ProgramRun(
            URL(filePath: "/bin/sh"), ["-c", call, "sh", plaintext, script.directory.file("forged")])
        #expect(run.exitCode == 0)
        for arguments in [WrappingService.clevis.arguments, ["null", "{}"]] {
            let unwrapped = try await script.run("unwrap", input: "forged", arguments: arguments)
            #expect(unwrapped.status == 1 && unwrapped.output.isEmpty && unwrapped.error.contains("null"))
        }
    }

    @Test(.enabled(if: WrappingService.hasJose), arguments: ["null", "yubikey", ""])
    func clevisWrapsOnlyWithPinsThatNeedMore(_ pin: String) async throws {
        let script = try WrappingScript(.clevis)
        #expect(try await script.run("wrap", input: "key", arguments: [pin, "{}"]).status == 1)
    }

    @Test(arguments: WrappingService.all)
    func aWrongCallIsToldHowItIsMeant(_ service: WrappingService) async throws {
        let script = try WrappingScript(service)
        for (verb, arguments) in [("seal", service.arguments), ("wrap", ["-x", "-x", "-x", "-x"])] {
            let outcome = try await script.run(verb, input: "key", arguments: arguments)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.error.hasPrefix("usage: \(service.name) "), "\(outcome.error)")
        }
    }

    @Test(arguments: WrappingService.all)
    func vaultctlAddsAndOpensASlotWithIt(_ service: WrappingService) async throws {
        let script = try WrappingScript(service)
        let harness = try Harness()
        try await harness.run("init")
        try await roundTrip(harness, program: try script.program())
    }

    // MARK: Parts

    /// Temporary files count by their names.
    private func arguments(_ script: WrappingScript) throws -> [String] {
        try script.takeArguments().map { $0.hasPrefix("/tmp/") ? URL(filePath: $0).lastPathComponent : $0 }
    }

    private func roundTrip(_ harness: Harness, program: String) async throws {
        let command = "[\"\(program)\"]"
        let added = try await harness.run("key", "add", "--new-wrap-command", command)
        #expect(added.status == 0, "\(added.error)")
        let opened = try await harness.run(
            "status", "--brief", "--wrap-command", command, environment: harness.bare)
        #expect(opened.status == 0, "\(opened.error)")
        let rekeyed = try await harness.run("key", "rekey", "--yes", "--also-wrap-command", command)
        #expect(rekeyed.status == 0, "\(rekeyed.error)")
        let again = try await harness.run(
            "key", "test", added.line, "--wrap-command", command, environment: harness.bare)
        #expect(again.status == 0, "\(again.error)")
    }
}

extension Harness {
    /// The vault without a key.
    fileprivate var bare: [String: String] { ["TOKENVAULT_VAULT": vault] }
}

private func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
