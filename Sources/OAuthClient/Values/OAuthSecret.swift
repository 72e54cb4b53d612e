/// A string that lets its holder act for somebody.
///
/// It prints as `<redacted>` in every rendering, is not `Codable`, and its characters leave it only through
/// ``reveal()``. It lives in ordinary memory: what the runtime copies is not wiped.
public protocol OAuthSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable, CustomPlaygroundDisplayConvertible
{
    /// Takes a value that has the form of its RFC.
    init(_ value: String) throws(OAuthValueError)

    /// The characters. Give them to nothing that logs.
    func reveal() -> String
}

extension OAuthSecret {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
    public var playgroundDescription: Any { "<redacted>" }
}

/// The grammars that secrets share.
enum SecretGrammar {
    /// 64 KiB: more than any token in use, little enough to keep.
    static let maximumBytes = 65_536

    /// `1*VSCHAR` of RFC 6749 Appendix A: printable ASCII and the space.
    static func requireVisible(_ value: String, _ subject: String) throws(OAuthValueError) -> String {
        guard !value.isEmpty else { throw OAuthValueError(.empty, subject) }
        guard value.utf8.count <= maximumBytes else { throw OAuthValueError(.tooLong, subject) }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw OAuthValueError(.forbiddenCharacter, subject)
        }
        return value
    }
}
