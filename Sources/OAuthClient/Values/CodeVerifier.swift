import Crypto

/// The secret half of PKCE (RFC 7636 §4.1): 43 to 128 unreserved characters.
public struct CodeVerifier: OAuthSecret {
    private let value: String

    public init(_ value: String) throws(OAuthValueError) {
        guard !value.isEmpty else { throw OAuthValueError(.empty, "code verifier") }
        guard value.utf8.count <= 128 else { throw OAuthValueError(.tooLong, "code verifier") }
        guard value.utf8.count >= 43 else { throw OAuthValueError(.malformed, "code verifier") }
        guard value.utf8.allSatisfy(Self.isUnreserved) else {
            throw OAuthValueError(.forbiddenCharacter, "code verifier")
        }
        self.value = value
    }

    private init(unchecked value: String) {
        self.value = value
    }

    /// 256 random bits, as RFC 7636 §7.1 recommends.
    public static func random() -> CodeVerifier {
        CodeVerifier(unchecked: RandomText.make(byteCount: 32))
    }

    /// The challenge for the authorization URL: `S256` (RFC 7636 §4.2). `plain` is not offered.
    public var challenge: CodeChallenge {
        CodeChallenge(rawValue: Base64URL.encode(SHA256.hash(data: Array(value.utf8))))
    }

    public func reveal() -> String { value }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// The public half of PKCE, method `S256` (RFC 7636 §4.2).
public struct CodeChallenge: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}
