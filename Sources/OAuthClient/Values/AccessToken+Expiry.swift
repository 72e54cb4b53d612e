package import FoundationEssentials

extension AccessToken {
    /// When a token that is a JWT says that it expires (RFC 7519 §4.1.4). Nil for every other token.
    ///
    /// The signature is not checked: the app has chosen to use the token, and what is wrong here costs a renewal at most.
    package var claimedExpiry: Date? {
        let parts = reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), header["alg"] != nil,
            let payload = Self.object(parts[1]), case .number(let text)? = payload["exp"],
            let seconds = Double(text), (0...Self.latest).contains(seconds)
        else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    /// In the year 5138; a larger number counts milliseconds, or nothing.
    private static let latest = 1e11

    private static func object(_ part: Substring) -> JSONObject? {
        Base64URL.decode(part).flatMap { try? JSONObject(document: $0) }
    }
}
