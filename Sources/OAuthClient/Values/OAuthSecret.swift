/// A string that lets its holder act for a user or a client.
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
        guard isVisible(value.utf8.span) else { throw OAuthValueError(.forbiddenCharacter, subject) }
        return value
    }

    /// Any text that a reply can hold.
    static func requireReturnable(_ value: String, _ subject: String) throws(OAuthValueError) -> String {
        guard !value.isEmpty else { throw OAuthValueError(.empty, subject) }
        guard value.utf8.count <= HTTPLimits.tokenEndpoint.bodyBytes else { throw OAuthValueError(.tooLong, subject) }
        return value
    }

    /// Looks at all bytes without a way out in the middle, so that the compiler takes many at once: every read of a
    /// stored token comes by here.
    static func isVisible(_ bytes: Span<UInt8>) -> Bool {
        var strangers: UInt8 = 0
        for index in bytes.indices {
            strangers |= bytes[index] &- 0x20 > 0x5E ? 1 : 0
        }
        return strangers == 0
    }
}
