package import FoundationEssentials
package import HTTPTypes

/// `Retry-After` (RFC 9110 §10.2.3): seconds or a date.
package enum RetryAfter {
    private static let longest = Duration.seconds(3_600)

    package static func isPresent(in response: HTTPResponse) -> Bool {
        response.headerFields.contains(.retryAfter)
    }

    /// The longest wait that the reply requests, from zero to one hour; nil if it is absent or unreadable.
    package static func delay(in response: HTTPResponse, now: Date) -> Duration? {
        response.headerFields[values: .retryAfter].compactMap { delay($0, now: now) }.max()
    }

    private static func delay(_ text: String, now: Date) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that overflows an integer still means a wait that is too long.
            return min(.seconds(min(Int(text) ?? 1_000_000, 1_000_000)), longest)
        }
        guard let date = HTTPDate.seconds(text) else { return nil }
        let wait = Double(date) - now.timeIntervalSince1970
        guard wait > 0 else { return .zero }
        return min(.seconds(min(wait, 1e9)), longest)
    }
}
