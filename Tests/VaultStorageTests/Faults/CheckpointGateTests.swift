import TestSupport
import Testing
import VaultSQLite
import VaultStorage

/// The race between a checkpoint and a restart of the WAL (<https://sqlite.org/wal.html#walresetbug>).
@Suite struct CheckpointGateTests {
    private static let rounds = Depth.pick(brief: 3, nightly: 5, deep: 1_000)

    /// Shows that the schedule is the right one: without the gate, this SQLite loses commits that it has acknowledged.
    @Test(
        .enabled(if: SQLiteLibrary.isAffectedByWALReset, "SQLite \(SQLiteLibrary.version) does not lose commits"),
        arguments: [1, 2])
    func withoutTheGateAcknowledgedCommitsAreLost(processes: Int) async throws {
        let race = try await FaultRun("race", "gated=0", "processes=\(processes)", "rounds=\(Self.rounds)")
        #expect(race.number("lost") ?? 0 > 0)
        #expect(race.number("during") ?? 0 > 0)
    }

    @Test(arguments: [1, 2])
    func behindTheGateNoneIsLost(processes: Int) async throws {
        let race = try await FaultRun("race", "gated=1", "processes=\(processes)", "rounds=\(Self.rounds)")
        #expect(race.number("lost") == 0)
        #expect(race.number("during") == 0)
    }
}
