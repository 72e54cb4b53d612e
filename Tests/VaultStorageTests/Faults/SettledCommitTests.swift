import Testing

/// Commits that SQLite reports as failed.
@Suite struct SettledCommitTests {
    @Test func whatBecameOfAFailedCommitIsFoundOut() async throws {
        let run = try await FaultRun("settle")
        #expect(run.number("settled") ?? 0 >= 2)
    }
}
