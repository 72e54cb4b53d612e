import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultControl

/// A vault that someone else has made, in the place of the victim's. The victim's command does not change.
struct ForgedVaultTests {
    /// Kinds of key slots, each as a way to make a slot that the victim's key opens.
    enum Kind: String, CaseIterable, Sendable {
        case keyFile, passphrase, recipient, wrapped
    }

    enum Attack: String, CaseIterable, Sendable {
        /// All of the victim's rows are gone.
        case anotherVault
        /// The attacker's vault, with the victim's key slots.
        case withTheVictimsSlots
        /// The victim's vault, with the attacker's providers.
        case withTheAttackersProviders
        /// The victim's vault, with the attacker's key slots and own row.
        case withTheAttackersKeys
    }

    private struct Victim {
        let harness: Harness
        let identity: String
        let wrapping: String

        init() throws {
            harness = try Harness()
            identity = try harness.file("identity.txt", KeySourceTests.identity + "\n")
            // As public as RSA: who knows how it wraps can wrap.
            wrapping = try harness.file(
                "wrapper", "#!/bin/sh\ncase $1 in wrap) base64 -w 0 ;; unwrap) base64 -d ;; esac\n", mode: 0o700)
        }

        func options(_ kind: Kind) -> [String] {
            switch kind {
            case .keyFile: ["--key-file", harness.key]
            case .passphrase: ["--passphrase-file", harness.path("passphrase")]
            case .recipient: ["--identity", identity]
            case .wrapped: ["--wrap-command", "[\"\(wrapping)\"]"]
            }
        }

        /// What an attacker needs to make a slot that the victim's key opens; nil if nobody can.
        func slot(_ kind: Kind) -> [String]? {
            switch kind {
            case .keyFile, .passphrase: nil
            case .recipient: ["--recipient", KeySourceTests.recipient]
            case .wrapped: ["--new-wrap-command", "[\"\(wrapping)\"]"]
            }
        }

        func run(_ arguments: [String], vault: String, key: [String]) async throws -> RunResult {
            try await harness.run(arguments + ["--vault", vault] + key, environment: [:])
        }
    }

    private static let evil = "https://evil.example/steal"

    @Test(.aboutFiles("it copies them"), arguments: Kind.allCases, Attack.allCases)
    func nothingOfItIsBelieved(_ kind: Kind, _ attack: Attack) async throws {
        let victim = try Victim()
        let harness = victim.harness
        try harness.file("passphrase", "correct horse battery staple")
        let own = harness.vault
        let first = kind == .passphrase ? Kind.passphrase : .keyFile
        #expect(try await victim.run(["init"], vault: own, key: victim.options(first)).status == 0)
        try await addProvider("https://honest.example", own, victim.options(first), victim)
        if let slot = victim.slot(kind) {
            let added = try await victim.run(["key", "add"] + slot, vault: own, key: victim.options(.keyFile))
            #expect(added.status == 0, "\(added.error)")
        }
        let show = ["provider", "show", "acme"]
        let before = try await victim.run(show, vault: own, key: victim.options(kind))
        #expect(before.status == 0 && before.output.contains("https://honest.example/token"), "\(before.error)")

        let theirs = try await forge(kind, victim)
        try put(attack, theirs, in: own)
        for command in [show, ["verify"], ["status"], ["user", "list"], ["key", "list"], ["doctor"]] {
            let after = try await victim.run(command, vault: own, key: victim.options(kind))
            // A provider that was put there is refused where it is used; the rest of the vault is the victim's own.
            let mayGoOn = attack == .withTheAttackersProviders && command != show && command != ["verify"]
            #expect(after.status != 0 || mayGoOn, "\(command): \(after.output)")
            #expect(!(after.output + after.error).contains("evil"), "\(command)")
        }
    }

    /// A vault of the attacker's that the victim's key opens, where that can be made.
    private func forge(_ kind: Kind, _ victim: Victim) async throws -> String {
        let (theirs, key) = (victim.harness.path("theirs.vault"), ["--key-file", victim.harness.path("theirs.key")])
        let other = try Harness()
        let state = ["TOKENVAULT_STATE_DIRECTORY": other.path("state")]
        func run(_ arguments: [String]) async throws {
            let made = try await victim.harness.run(arguments + ["--vault", theirs] + key, environment: state)
            #expect(made.status == 0, "\(made.error)")
        }
        try await run(["init"])
        try await run(
            ["provider", "add", "acme", "--client-id", "c", "--token-endpoint", Self.evil] + [
                "--authorization-endpoint", Self.evil,
            ])
        if let slot = victim.slot(kind) { try await run(["key", "add"] + slot) }
        return theirs
    }

    private func addProvider(_ base: String, _ vault: String, _ key: [String], _ victim: Victim) async throws {
        let arguments = ["provider", "add", "acme", "--client-id", "c", "--token-endpoint", base + "/token"]
        let added = try await victim.run(
            arguments + ["--authorization-endpoint", base + "/authorize"], vault: vault, key: key)
        #expect(added.status == 0, "\(added.error)")
    }

    private func put(_ attack: Attack, _ theirs: String, in own: String) throws {
        func take(_ tables: [String], from source: String, into target: String) throws {
            let statements = tables.flatMap {
                ["DELETE FROM main.\($0)", "INSERT INTO main.\($0) SELECT * FROM other.\($0)"]
            }
            try TableIntruder(target).execute((["ATTACH '\(source)' AS other"] + statements).joined(separator: ";"))
        }
        switch attack {
        case .anotherVault: break
        case .withTheVictimsSlots: try take(["keySlot"], from: own, into: theirs)
        case .withTheAttackersProviders: return try take(["provider"], from: theirs, into: own)
        case .withTheAttackersKeys: return try take(["keySlot", "vault", "provider"], from: theirs, into: own)
        }
        try FileManager.default.removeItem(atPath: own)
        try FileManager.default.copyItem(atPath: theirs, toPath: own)
        #expect(unsafe chmod(own, 0o600) == 0)
    }

    /// What helps, in the words of the refusal.
    @Test(.aboutFiles("it copies them"), arguments: [Kind.recipient, .wrapped])
    func anUnknownVaultIsRefusedWithTheWayOut(_ kind: Kind) async throws {
        let victim = try Victim()
        let harness = victim.harness
        try await harness.run("init")
        try await harness.run(["key", "add"] + (try #require(victim.slot(kind))))
        // Another machine.
        let elsewhere = try Harness()
        try FileManager.default.copyItem(atPath: harness.vault, toPath: elsewhere.vault)
        #expect(unsafe chmod(elsewhere.vault, 0o600) == 0)
        func there(_ arguments: String...) async throws -> RunResult {
            try await elsewhere.run(
                arguments + victim.options(kind), environment: ["TOKENVAULT_VAULT": elsewhere.vault])
        }
        let refused = try await there("status")
        #expect(refused.status == ExitStatus.key.rawValue, "\(refused.error)")
        #expect(refused.error.contains("vaultctl key pin") && refused.error.contains("witness"))
        #expect(try await there("key", "pin").status == ExitStatus.usage.rawValue)
        #expect(try await there("key", "pin", "--yes").status == 0)
        #expect(try await there("status").status == 0)
        // Keys change, and the pin follows.
        for rotation in [["--audit"], ["--index"], []] {
            #expect(try await harness.run(["key", "rotate"] + rotation).status == 0)
        }
        let own = try await harness.run(
            ["status"] + victim.options(kind), environment: ["TOKENVAULT_VAULT": harness.vault])
        #expect(own.status == 0, "\(own.error)")
    }

    @Test func doctorSaysWhichSlotsAnyoneCanMake() async throws {
        let victim = try Victim()
        let harness = victim.harness
        try await harness.run("init")
        for kind in [Kind.recipient, .wrapped] { try await harness.run(["key", "add"] + (victim.slot(kind) ?? [])) }
        let said = try await harness.run("doctor").output
        #expect(said.contains("anyone who knows its recipient") && said.contains("anyone who may encrypt"))
    }
}
