import TestSupport
import Testing

/// The disk fails at every single operation: the first, the second, and so on until there are no more. In short runs each
/// way of failing meets every fifteenth one, and all of them together each.
@Suite struct IOSweepTests {
    /// With about 95 % of the runs that each takes, so that a sweep that shrinks shows.
    ///
    /// Counted are SQLite's operations on database, WAL and shared memory: reads, writes, syncs, truncations, locks and mappings, each once
    /// for every way in which it can fail, and twice, because it fails once or from then on. Reads of the WAL fail in two ways. One
    /// run more for each of the 20 has no fault. A vault is made in memory and written by other means than SQLite's, so that
    /// its creation is short here: `CreationSweepTests` lets the system's calls fail.
    static let scenarios = [
        ("creation", 224), ("opening", 319), ("insertion", 165), ("intent", 121), ("renewal", 119),
        ("checkpoint", 349), ("verification", 319), ("migration", 950), ("migration beside a log", 1_043),
        ("key slot", 98), ("proof", 96), ("key removal", 114), ("rekey", 114),
        ("closing", 112), ("leaving", 309), ("full log", 1_092), ("doubtful log", 564), ("closing a full log", 134),
        ("beginning anew", 209), ("index key", 226), ("rotation", 292), ("pruning", 100), ("audit key", 121),
    ]

    @Test(arguments: scenarios)
    func noFailureOfTheDiskLosesWhatWasAcknowledged(scenario: String, runs: Int) async throws {
        let sweep = try await FaultRun(
            "sweep", "scenario=\(scenario)", "lengths=\(Depth.current == .deep ? "1,0,2,3,7" : "1,0")",
            "step=\(Depth.pick(brief: 50, nightly: 1, deep: 1))")
        #expect(sweep.number("total") ?? 0 >= runs / Depth.pick(brief: 50, nightly: 1, deep: 1))
    }
}
