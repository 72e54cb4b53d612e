import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// How far a server's clock is ahead, and when that cannot be known.
struct ClockOffsetTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func measured(_ date: String, took seconds: Double) -> Duration? {
        ClockOffset.measured(
            HTTPResponse(status: .ok, headerFields: [.date: date]), startedAt: Self.start,
            repliedAt: Self.start.addingTimeInterval(seconds))
    }

    /// 2027-01-15 08:00:00 UTC is the start.
    @Test(arguments: [
        ("Fri, 15 Jan 2027 08:00:30 GMT", 0.0, Duration.seconds(30)),
        ("Fri, 15 Jan 2027 07:59:00 GMT", 2, .seconds(-61)),
        ("Fri, 15 Jan 2027 08:01:02 GMT", 4, .seconds(60)), ("Fri, 15 Jan 2027 08:00:01 GMT", 1, .zero),
    ])
    func aPromptReplyTells(_ date: String, _ seconds: Double, _ offset: Duration) {
        #expect(measured(date, took: seconds) == offset)
    }

    /// Half of twenty seconds would put proofs ten seconds into the future.
    @Test(arguments: [4.001, 20, 600, -1])
    func aReplyThatTookLongTellsNothing(_ seconds: Double) {
        #expect(measured("Fri, 15 Jan 2027 08:00:00 GMT", took: seconds) == nil)
        #expect(measured("Fri, 15 Jan 2027 09:00:00 GMT", took: seconds) == nil)
    }
}
