import Foundation
import OAuthClient
import Testing

@testable import VaultImport

struct MomentTests {
    private static let cases: [(RawValue, Double?)] = [
        (.integer(1_800_000_000), 1_800_000_000), (.integer(1_800_000_000_500), 1_800_000_000.5),
        (.real(1_800_000_000.25), 1_800_000_000.25), (.number("1800000000"), 1_800_000_000),
        (.text("1800000000"), 1_800_000_000), (.text("1800000000000"), 1_800_000_000),
        (.text("2027-01-15T08:00:00Z"), 1_800_000_000), (.text("2027-01-15t08:00:00z"), 1_800_000_000),
        (.text("2027-01-15 08:00:00.123456+00"), 1_800_000_000.123),
        (.text("2027-01-15T09:30:00+01:30"), 1_800_000_000),
        (.text("2027-01-14T22:00:00-1000"), 1_800_000_000), (.text("2027-01-15 08:00:00 UTC"), 1_800_000_000),
        (.text("2028-02-29T00:00:00Z"), 1_835_395_200), (.bytes(Array("2027-01-15T08:00:00Z".utf8)), 1_800_000_000),
        (.integer(100_000_000_000), 100_000_000_000), (.integer(100_000_000_001), 100_000_000.001),
        (.integer(253_402_300_799_000), 253_402_300_799), (.integer(253_402_300_800_000), nil),
        (.integer(-1), nil), (.real(.nan), nil), (.real(.infinity), nil), (.number("1e999"), nil), (.text("soon"), nil),
        (.text("2027-02-29T00:00:00Z"), nil), (.text("2027-13-01T00:00:00Z"), nil), (.text("2027-01-15"), nil),
        (.text("0000-00-00 00:00:00"), nil), (.text("2027-01-15T24:00:00Z"), nil),
        (.text("2027-01-15T08:00:00+25:00"), nil),
        (.text("2027-01-15T08:00:00Zx"), nil), (.text(String(repeating: "1", count: 65)), nil), (.bool(true), nil),
        (.text("..."), nil),
    ]

    @Test func everyFormIsReadAsItIsMeant() {
        for (value, seconds) in Self.cases {
            let expected = seconds.map { Moment.at(Date(timeIntervalSince1970: $0)) } ?? .unreadable
            #expect(Moment(value, .utc) == expected, "\(value)")
        }
    }

    @Test(arguments: [RawValue.null, .text(""), .integer(0), .text("0"), .text("infinity")])
    func nothingIsNoMoment(_ value: RawValue) {
        #expect(Moment(value, .utc) == Moment.none)
    }

    @Test func aTimeWithoutAZoneMeansWhatThePlanSays() {
        let value = RawValue.text("2027-01-15 10:00:00")
        #expect(Moment(value, .utc) == .assumed(Date(timeIntervalSince1970: 1_800_007_200)))
        #expect(Moment(value, .offset(seconds: 7_200)) == .assumed(Date(timeIntervalSince1970: 1_800_000_000)))
        #expect(Moment(value, .unknown) == .unreadable)
    }
}
