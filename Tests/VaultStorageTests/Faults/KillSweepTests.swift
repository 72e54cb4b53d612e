import TestSupport
import Testing

/// A process dies at every single thing that SQLite asks of a file; in short runs at every ninth.
@Suite struct KillSweepTests {
    @Test func whereverAProcessDiesTheOthersGoOn() async throws {
        let sweep = try await FaultRun("kill", "step=\(Depth.pick(brief: 9, nightly: 1, deep: 1))")
        #expect(sweep.number("kills") ?? 0 > Depth.pick(brief: 110, nightly: 1_000, deep: 1_000))
    }
}
