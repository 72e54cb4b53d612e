import TestSupport
import Testing

/// The bytes of a small vault, database and WAL, flipped, cut off and zeroed.
@Suite struct DamageTests {
    @Test(.timeLimit(.minutes(120))) func damageNeverGivesAWrongAnswer() async throws {
        let run =
            Depth.isDeep
            ? try await FaultRun("damage", "stride=1")
            : try await FaultRun("damage", "stride=29")
        #expect(run.number("cases") ?? 0 > (Depth.isDeep ? 200_000 : 9_000))
    }

    @Test(.timeLimit(.minutes(120)), .enabled(if: Depth.isDeep, "scripts/deep flips every bit of each 7th byte"))
    func everyBitCounts() async throws {
        _ = try await FaultRun("damage", "stride=7", "masks=1,2,4,8,16,32,64,128", "from=3")
    }
}
