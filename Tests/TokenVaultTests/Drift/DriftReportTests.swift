import Testing
import VaultStorage

@testable import TokenVault

/// What is written of a provider that has changed its rules.
struct DriftReportTests {
    @Test func twoProcessesReportAFindingOnce() async throws {
        let world = try await World()
        let store = world.vault.store
        let provider = try await store.provider(named: "acme")
        let finding = AuditEvent.Detail("rotation", "seen")
        #expect(try await store.reportDrift(of: provider, [finding]))
        #expect(try await !store.reportDrift(of: provider, [finding]))
        #expect(try await store.reportDrift(of: provider, [finding, AuditEvent.Detail("errorCode", "seen")]))
        #expect(try await store.history(of: provider.handle).findings.map(\.key) == ["rotation", "errorCode"])
    }
}
