import Testing

/// The disk fails at every single operation: the first, the second, and so on until there are no more.
@Suite struct IOSweepTests {
    /// With the runs that each of them takes at least, so that a sweep that shrinks shows.
    static let scenarios = [
        ("creation", 230), ("opening", 330), ("insertion", 120), ("intent", 100), ("renewal", 90),
        ("checkpoint", 330), ("verification", 200), ("migration", 400), ("key slot", 70),
        ("closing", 60), ("beginning anew", 100),
    ]

    @Test(.timeLimit(.minutes(120)), arguments: scenarios)
    func noFailureOfTheDiskLosesWhatWasAcknowledged(scenario: String, runs: Int) async throws {
        let sweep = try await FaultRun(
            "sweep", "scenario=\(scenario)", "lengths=\(FaultRun.isDeep ? "1,0,2,3,7" : "1,0")")
        #expect(sweep.number("total") ?? 0 >= runs)
    }
}
