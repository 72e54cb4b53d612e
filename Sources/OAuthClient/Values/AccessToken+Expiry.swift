package import FoundationEssentials

extension AccessToken {
    /// The expiry that a JWT access token claims (RFC 7519 §4.1.4). Nil for every other token.
    ///
    /// The signature is not checked: the app chose to use the token, and a wrong claim costs at most one renewal.
    package var claimedExpiry: Date? {
        let parts = reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), header["alg"] != nil,
            let payload = Self.object(parts[1]), case .number(let text)? = payload["exp"],
            let seconds = Double(text), (0...Self.latest).contains(seconds)
        else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    /// In the year 5138; a larger number is in milliseconds, or meaningless.
    private static let latest = 1e11

    private static func object(_ part: Substring) -> JSONObject? {
        Base64URL.decode(part).flatMap { try? JSONObject(document: $0) }
    }
}
