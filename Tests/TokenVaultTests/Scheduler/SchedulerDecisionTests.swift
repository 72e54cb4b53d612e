import EngineSupport
import TestSupport
import Testing
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
            #expect(try await world.vault.store.acceptRestored([logins[0]]) { _ in } == [logins[0]])
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 1 }
            #expect(server.count == 1)
            // Others come later, and are seen as well.
            await world.pass(upTo: .seconds(120), step: .seconds(20))
            _ = try await world.vault.store.acceptRestored(Array(logins[1...])) { _ in }
            await world.pass(upTo: .seconds(3), step: .seconds(1)) { server.count == 3 }
            #expect(server.count == 3)
        }
    }
}
