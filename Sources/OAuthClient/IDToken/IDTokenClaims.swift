/// The claims of a checked id token about the user (OpenID Connect Core §2, §5.1).
///
/// ```swift
/// let address = done.claims?["email"]
/// ```
///
/// No rendering shows them, because a subject may be an e-mail address.
public struct IDTokenClaims: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The user's id at the provider. It is unique there, and never reused for another user.
    public let subject: String
    public let issuer: String
    /// Whether the provider's signature was checked. Otherwise its keys were unavailable, and the token is trusted
    /// because it came directly from the token endpoint over TLS (OpenID Connect Core §3.1.3.7).
    public let isSignatureChecked: Bool
    private let values: [String: String]

    static let mostClaims = 128
    static let longestValue = 2_048

    /// - Parameter object: a payload whose `sub` and `iss` have been read.
    init(_ object: JSONObject, subject: String, issuer: String, isSignatureChecked: Bool) {
        self.subject = subject
        self.issuer = issuer
        self.isSignatureChecked = isSignatureChecked
        var values: [String: String] = [:]
        for name in object.names.prefix(Self.mostClaims) where name.utf8.count <= 256 {
            let text: String? =
                switch object[name] {
                case .string(let text)?: text
                case .number(let text)?: text
                case .bool(let flag)?: String(flag)
                default: nil
                }
            if let text, text.utf8.count <= Self.longestValue { values[name] = text }
        }
        self.values = values
    }

    /// The value of a claim; numbers and booleans are in JSON's spelling. Nil for lists, objects and values longer than
    /// 2 KiB.
    public subscript(name: String) -> String? { values[name] }

    /// The names of all claims that can be read here.
    public var names: [String] { values.keys.sorted() }

    public var description: String { "<id token claims>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
