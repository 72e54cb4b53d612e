import TestSupport
import Testing

/// The bytes of a small vault, database and WAL, flipped, cut off and zeroed.
@Suite struct DamageTests {
    @Test func damageNeverGivesAWrongAnswer() async throws {
        let run = try await FaultRun("damage", "stride=\(Depth.pick(brief: 2_339, nightly: 29, deep: 1))")
        #expect(run.number("cases") ?? 0 > Depth.pick(brief: 110, nightly: 9_000, deep: 200_000))
    }

    @Test(
        .enabled(if: Depth.current == .deep, "scripts/deep flips every bit of each 7th byte")
    )
    func everyBitCounts() async throws {
        _ = try await FaultRun("damage", "stride=7", "masks=1,2,4,8,16,32,64,128", "from=3")
    }
}
