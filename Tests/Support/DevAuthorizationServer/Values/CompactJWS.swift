/// A JWS in compact form (RFC 7515 §7.1) whose payload is a set of claims: taken apart, not verified.
struct CompactJWS: Sendable {
    let header: [String: JSONValue]
    let claims: [String: JSONValue]
    let signature: [UInt8]
    let signingInput: [UInt8]

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signingInput = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    private static func object(_ part: Substring) -> [String: JSONValue]? {
        guard let bytes = Base64URL.decode(part), case .object(let members) = JSONValue.parse(bytes) else { return nil }
        return members
    }
}
