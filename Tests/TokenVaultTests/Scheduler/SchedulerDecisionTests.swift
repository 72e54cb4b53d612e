import EngineSupport
import OAuthClient
import TestSupport
import Testing
import TokenVaultTesting
import VaultAdministration
import VaultCrypto
import VaultImport
import VaultStorage

@testable import TokenVault

/// What an operator decides while a scheduler runs.
@Suite(.tags(.everyEngine))
struct SchedulerDecisionTests {
    @Test func acceptedLoginsAreRenewedAtOnce() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let logins = try await world.addChains(3).map(\.handle)
        try await world.vault.store.holdAllLogins(AuditEvent(.witnessReplaced))
        try await world.scheduling { _ in
            // They are due, and rest.
            await world.pass(upTo: .seconds(3_700), step: .seconds(20))
            #expect(server.count == 0)
            #expect(try await world.vault.store.acceptRestored([logins[0]]) { _ in }.living == [logins[0]])
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 1 }
            #expect(server.count == 1)
            // Others come later, and are seen as well.
            await world.pass(upTo: .seconds(120), step: .seconds(20))
            _ = try await world.vault.store.acceptRestored(Array(logins[1...])) { _ in }
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 3 }
            #expect(server.count == 3)
        }
    }

    /// Logins that their source holds are not in the index, so no scheduler waits for them.
    @Test func acceptedImportsAreRenewedAtOnceByAnotherProcess() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        let name = try await world.vault.store.provider(named: "acme").handle
        let now = world.time.timestamp
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "CANARY-access-old"), createdAt: now, obtainedAt: now,
            expiresAt: now.advanced(by: .seconds(3_600)))
        session.origin = ImportOrigin(
            source: "web", row: SecureRandom.bytes16(), tokens: SecureRandom.bytes16(), owner: .source, takenAt: now)
        _ = try await world.vault.store.insertLogin(
            LoginDraft(
                userId: "alice", provider: name, session: session,
                refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "CANARY-refresh-old"))))
        let (operatorsVault, _) = try await world.anotherProcess()
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(3_700), step: .seconds(20))
            #expect(server.count == 0)
            let acceptance = try await operatorsVault.acceptImport(from: "web", proof: .init(pause: nil))
            #expect(acceptance.count == 1)
            await world.pass(upTo: .seconds(2), step: .seconds(1)) { server.count == 1 }
            #expect(server.tokens == ["CANARY-refresh-old"])
        }
        await operatorsVault.close()
    }

    @Test func aHoldOfAnotherProcessIsObeyedAtOnce() async throws {
        let world = try await World()
        let server = RotatingServer(world)
        _ = try await world.addChains(3)
        let (operatorsVault, _) = try await world.anotherProcess()
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(2_000), step: .seconds(20))
            #expect(server.count == 0)
            try await operatorsVault.holdAllLogins()
            await world.pass(upTo: .seconds(2_000), step: .seconds(20))
            #expect(server.count == 0)
            _ = try await operatorsVault.acceptRestore(ofProvider: "acme")
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 3 }
            #expect(server.count == 3)
        }
        await operatorsVault.close()
    }

    /// The server has refused the former one long enough for pauses to be long.
    @Test func aNewClientSecretOfAnotherProcessIsTriedAtOnce() async throws {
        let world = try await World()
        _ = try await world.addChains(3)
        world.transport.fallback = .error("invalid_client")
        let (operatorsVault, _) = try await world.anotherProcess()
        try await world.scheduling { _ in
            await world.pass(upTo: .seconds(4_000), step: .seconds(20))
            #expect(world.transport.requestCount > 0)
            let server = RotatingServer(world)
            var change = ProviderChange()
            change.authentication = .clientSecretBasic(try ClientSecret("CANARY-secret-2"))
            _ = try await operatorsVault.updateProvider(named: "acme", change)
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 3 }
            #expect(server.count == 3)
        }
        await operatorsVault.close()
    }
}
