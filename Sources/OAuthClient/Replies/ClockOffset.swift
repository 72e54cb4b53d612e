package import FoundationEssentials
package import HTTPTypes

/// How far a server's clock is ahead of ours, by the `Date` of its reply.
package enum ClockOffset {
    /// Less than two seconds is noise: the header has whole seconds, and the reply took time.
    static let threshold = Duration.seconds(2)
    /// A server beyond this has bigger problems than its clock.
    private static let maximum = 86_400.0
    /// If a reply took longer, it is unknown when in that time the server read its clock: half of this is the error.
    private static let longestRoundTrip = 4.0

    /// Zero if it is below the threshold; nil if the reply has no usable date.
    package static func measured(_ response: HTTPResponse, startedAt: Date, repliedAt: Date) -> Duration? {
        let values = response.headerFields[values: .date]
        guard values.count == 1, let value = values.first, let server = HTTPDate.seconds(value) else { return nil }
        let roundTrip = repliedAt.timeIntervalSince(startedAt)
        guard roundTrip >= 0, roundTrip <= longestRoundTrip else { return nil }
        let local = (startedAt.timeIntervalSince1970 + repliedAt.timeIntervalSince1970) / 2
        let offset = Double(server) - local
        guard abs(offset) <= maximum else { return nil }
        return abs(offset) < 2 ? .zero : .milliseconds(Int64(offset * 1_000))
    }
}
