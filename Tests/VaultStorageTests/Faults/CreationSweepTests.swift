import Testing

/// A process dies at every single thing that it asks of the system while it makes a vault, or is refused it.
@Suite struct CreationSweepTests {
    @Test func whereverItDiesThereIsAVaultOrNothing() async throws {
        let sweep = try await FaultRun("creation")
        #expect(sweep.number("kills") ?? 0 > 40)
        #expect(sweep.number("failures") ?? 0 > 20)
    }
}
