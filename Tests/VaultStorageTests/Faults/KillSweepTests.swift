import TestSupport
import Testing

/// A process dies at every single thing that SQLite asks of a file; in short runs at every third.
@Suite struct KillSweepTests {
    @Test func whereverAProcessDiesTheOthersGoOn() async throws {
        let sweep = try await FaultRun("kill", "step=\(Depth.pick(brief: 3, nightly: 1, deep: 1))")
        #expect(sweep.number("kills") ?? 0 > Depth.pick(brief: 330, nightly: 1_000, deep: 1_000))
    }
}
