/// The permissions of a token: an ordered set of scope tokens (RFC 6749 §3.3).
public struct Scope: Hashable, Sendable, CustomStringConvertible {
    public let tokens: [String]

    /// Takes tokens in order; repeated ones count once. Empty is allowed: it requests nothing by name.
    public init(tokens: [String]) throws(OAuthValueError) {
        var seen = Set<String>()
        var kept: [String] = []
        var bytes = 0
        for token in tokens {
            guard !token.isEmpty else { throw OAuthValueError(.empty, "scope token") }
            guard token.utf8.allSatisfy(Self.isAllowed) else {
                throw OAuthValueError(.forbiddenCharacter, "scope token")
            }
            if seen.insert(token).inserted { kept.append(token) }
            bytes += token.utf8.count + 1
            guard bytes <= SecretGrammar.maximumBytes else { throw OAuthValueError(.tooLong, "scope") }
        }
        self.tokens = kept
    }

    /// Reads the wire form; some providers use a `separator` other than the space.
    public init(_ text: String, separator: Character = " ") throws(OAuthValueError) {
        try self.init(tokens: text.split(whereSeparator: { $0 == separator || $0 == " " }).map(String.init))
    }

    /// The wire form.
    public var description: String { tokens.joined(separator: " ") }

    public var isEmpty: Bool { tokens.isEmpty }

    /// Whether this scope includes everything in `other`.
    public func contains(_ other: Scope) -> Bool {
        Set(tokens).isSuperset(of: other.tokens)
    }

    /// `NQCHAR`: `%x21 / %x23-5B / %x5D-7E`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
    }
}
