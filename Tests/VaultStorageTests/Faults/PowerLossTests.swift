import TestSupport
import Testing

/// The disk forgets what was not synced.
@Suite struct PowerLossTests {
    private static let cases = Depth.pick(brief: 20, nightly: 200, deep: 20_000)

    @Test func whatWasAcknowledgedSurvivesALossOfPower() async throws {
        let run = try await FaultRun("power", "cases=\(Self.cases)")
        #expect(run.number("cases") == Self.cases)
        #expect(run.number("lost") == 0)
    }

    /// As above, and some syncs fail before: of a commit, of the one that settles it, and of what comes then; with and
    /// without somebody who holds a snapshot. What they should have written is never written. Whatever is acknowledged
    /// afterwards must not stand on that, nor on what the next process finds of it in the WAL.
    @Test(arguments: [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)])
    func aFailedSyncIsNotBuiltUpon(length: Int, pinned: Int) async throws {
        let run = try await FaultRun(
            "power", "cases=\(Self.cases + 40)", "failures=60", "length=\(length)", "pinned=\(pinned)")
        #expect(run.number("cases") == (Self.cases + 40) / 60 * 60)
        #expect(run.number("lost") == 0)
    }

    /// Shows that the disk forgets enough: with the syncs that NORMAL makes, acknowledged commits are gone.
    @Test func withFewerSyncsItWouldNot() async throws {
        let run = try await FaultRun("power", "cases=200", "normal=1")
        #expect(run.number("lost") ?? 0 > 20)
    }
}
