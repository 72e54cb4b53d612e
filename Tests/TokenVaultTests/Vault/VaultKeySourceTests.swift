import EngineSupport
import Foundation
import Glibc
import Synchronization
import Testing
import TokenVault
import TokenVaultTesting
import VaultAdministration

/// Keys that come from elsewhere than a key file of the service's own.
struct VaultKeySourceTests {
    private struct SecretManager: KeyProvider {
        let fetch: @Sendable () async throws -> KeySource

        func key() async throws -> KeySource {
            await Task.yield()
            return try await fetch()
        }
    }

    private struct Unreachable: Error, Equatable { let host: String }

    private static func line(of file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    /// A secret manager that has the key of this file.
    private static func source(of file: String) -> KeySource {
        .provider(SecretManager { .keyLine(KeyLine(try line(of: file))) })
    }

    @Test func aCredentialOfSystemdOpensTheVault() async throws {
        // A process of its own: the variable is one for the whole process.
        await #expect(processExitsWith: .success) {
            let temporary = try await TestVault()
            await temporary.vault.close()
            let folder = temporary.directory + "/credentials"
            let file = folder + "/vault.key"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(atPath: temporary.keyFile, toPath: file)
            #expect(unsafe chmod(file, 0o400) == 0 && chmod(folder, 0o500) == 0)
            defer { unsafe chmod(folder, 0o700) }
            func open(_ name: String) async throws {
                try await Vault.open(in: temporary.location, unlockedBy: .credential(name)).close()
            }
            #expect(await code { try await open("vault.key") } == .keyUnavailable)
            unsafe setenv("CREDENTIALS_DIRECTORY", folder, 1)
            #expect(await code { try await open("vault.key") } == nil)
            #expect(await code { try await open("other.key") } == .keyMissing)
            #expect(await code { try await open("../vault.key") } == .keyUnavailable)
            #expect(unsafe chmod(file, 0o444) == 0)
            #expect(await code { try await open("vault.key") } == .keyUnsafe)
        }
    }

    @Test func aProviderOpensMakesAndRekeysAVault() async throws {
        let temporary = try await TestVault()
        await temporary.vault.close()
        let calls = Mutex(0)
        let keyFile = temporary.keyFile
        let counting = KeySource.provider(
            SecretManager {
                calls.withLock { $0 += 1 }
                return .keyLine(KeyLine(try Self.line(of: keyFile)))
            })
        let opened = try await Vault.open(in: temporary.location, unlockedBy: counting)
        #expect(calls.withLock { $0 } == 1)

        let spare = temporary.directory + "/spare.key"
        let dropped = temporary.directory + "/dropped.key"
        for file in [spare, dropped] { try KeyFiles.generate(at: file) }
        let kept = try await opened.addKeySlot(Self.source(of: spare), label: "spare")
        try await opened.testKeySlot(kept.id, with: Self.source(of: spare))
        try await opened.addKeySlot(Self.source(of: dropped), label: "dropped")
        let plan = try await opened.planRekey(provenBy: [Self.source(of: spare)])
        #expect(plan.dropped.map(\.label) == ["dropped"] && plan.kept.map(\.id) == [opened.openingKeySlot, kept.id])
        try await opened.rekey(plan)
        await opened.close()
        for file in [keyFile, spare] {
            try await Vault.open(in: temporary.location, unlockedBy: Self.source(of: file)).close()
        }
        let lost = Self.source(of: dropped)
        #expect(await code { try await Vault.open(in: temporary.location, unlockedBy: lost) } == .wrongKey)

        let second = try temporary.newLocation()
        let made = try await Vault.create(in: second, unlockedBy: Self.source(of: spare))
        #expect(try await made.keySlots().map(\.kind) == [.keyFile])
        await made.close()
        try await Vault.open(in: second, unlockedBy: .keyFile(spare)).close()
    }

    @Test func whatAProviderThrowsComesThrough() async throws {
        let temporary = try await TestVault()
        let error = Unreachable(host: "secrets.example")
        let failing = KeySource.provider(SecretManager { throw error })
        let second = try temporary.newLocation()
        await #expect(throws: error) { try await Vault.open(in: temporary.location, unlockedBy: failing) }
        await #expect(throws: error) { try await Vault.create(in: second, unlockedBy: failing) }
        let key = KeySource.keyFile(temporary.keyFile)
        #expect(await code { try await Vault.open(in: second, unlockedBy: key) } == .vaultMissing)
        await #expect(throws: error) { try await temporary.vault.addKeySlot(failing, label: "") }
        await #expect(throws: error) { try await temporary.vault.planRekey(provenBy: [failing]) }
        let stopped = KeySource.provider(SecretManager { throw CancellationError() })
        await #expect(throws: CancellationError.self) {
            try await Vault.open(in: temporary.location, unlockedBy: stopped)
        }
        let nested = KeySource.provider(SecretManager { failing })
        #expect(await code { try await Vault.open(in: temporary.location, unlockedBy: nested) } == .keyUnavailable)
        let cut = KeySource.provider(SecretManager { .keyLine(KeyLine("tokenvault-key-1:CANARY")) })
        let refused = await #expect(throws: VaultError.self) {
            try await Vault.open(in: temporary.location, unlockedBy: cut)
        }
        #expect(refused.map { "\($0) \(String(reflecting: $0))".contains("CANARY") } == false)
        await temporary.vault.close()
    }
}
