import Foundation
import Testing

@testable import VaultControl

/// Times as people write them.
struct CalendarTimeTests {
    /// 2026-11-25T22:15:00Z, a Wednesday.
    private static let now = Date(timeIntervalSince1970: 1_795_644_900)

    @Test(arguments: [
        ("2026-11-25", "2026-11-25T00:00:00Z"), ("2026-11-25 22:00", "2026-11-25T22:00:00Z"),
        ("2026-11-25T22:00", "2026-11-25T22:00:00Z"), ("2026-11-25T22:00:30", "2026-11-25T22:00:30Z"),
        ("2026-11-25 22:00:30Z", "2026-11-25T22:00:30Z"), ("2026-11-25t22:00:30.25z", "2026-11-25T22:00:30Z"),
        ("2026-11-25T22:00+02:00", "2026-11-25T20:00:00Z"), ("now", "2026-11-25T22:15:00Z"),
        ("today", "2026-11-25T00:00:00Z"), ("Yesterday", "2026-11-24T00:00:00Z"),
        ("tomorrow", "2026-11-26T00:00:00Z"), ("2024-02-29", "2024-02-29T00:00:00Z"),
    ])
    func pointsInTimeAreRead(_ text: String, _ date: String) throws {
        let read = try #require(CalendarTime(argument: text))
        #expect(read.date(now: Self.now).formatted(.iso8601) == date)
        #expect(PointInTime(argument: text)?.date(now: Self.now) == read.date(now: Self.now))
        #expect(MomentOption(argument: text)?.date(now: Self.now) == read.date(now: Self.now))
    }

    @Test(arguments: [
        "", "2026", "2026-11", "2026-02-30", "2026-11-25T", "2026-11-25 25:00", "2026-11-25T22", "1764108000",
        "@1764108000", "1764108000000", "25.11.2026", "11/25/2026", "last week", "2026-11-25T22:00:00+2", "noon", "24",
        "2026-11-25_22:00", "٢٠٢٦-١١-٢٥",
    ])
    func whatIsNoPointInTimeIsRefused(_ text: String) {
        #expect(CalendarTime(argument: text) == nil)
        #expect(PointInTime(argument: text) == nil)
        #expect(MomentOption(argument: text) == nil)
    }

    @Test func lengthsAreCountedFromNow() {
        #expect(PointInTime(argument: "1w")?.date(now: Self.now) == Self.now.addingTimeInterval(-604_800))
        #expect(PointInTime(argument: "2h ago")?.date(now: Self.now) == Self.now.addingTimeInterval(-7_200))
        #expect(MomentOption(argument: "1y")?.date(now: Self.now) == Self.now.addingTimeInterval(31_536_000))
    }
}
