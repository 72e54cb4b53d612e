import Foundation
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
