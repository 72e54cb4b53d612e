import Testing

/// A process dies at every single thing that SQLite asks of a file.
@Suite struct KillSweepTests {
    @Test func whereverAProcessDiesTheOthersGoOn() async throws {
        let sweep = try await FaultRun("kill")
        #expect(sweep.number("kills") ?? 0 > 1_000)
    }
}
