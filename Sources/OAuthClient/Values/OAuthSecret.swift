/// A string that lets its holder act for a user or a client.
///
/// It prints as `<redacted>` in every rendering, is not `Codable`, and only ``reveal()`` returns its characters. It is
/// in ordinary memory: copies that the runtime makes are not wiped.
public protocol OAuthSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable, CustomPlaygroundDisplayConvertible
{
    /// Takes a value that has the form that its RFC requires.
    init(_ value: String) throws(OAuthValueError)

    /// The characters. Never log them.
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
    /// 64 KiB: more than any token in use, little enough to store.
    static let maximumBytes = 65_536

    /// `1*VSCHAR` of RFC 6749 Appendix A: printable ASCII and the space.
    static func requireVisible(_ value: String, _ subject: String) throws(OAuthValueError) -> String {
        guard !value.isEmpty else { throw OAuthValueError(.empty, subject) }
        guard value.utf8.count <= maximumBytes else { throw OAuthValueError(.tooLong, subject) }
        guard isVisible(value.utf8.span) else { throw OAuthValueError(.forbiddenCharacter, subject) }
        return value
    }

    /// Any text that a reply can contain.
    static func requireReturnable(_ value: String, _ subject: String) throws(OAuthValueError) -> String {
        guard !value.isEmpty else { throw OAuthValueError(.empty, subject) }
        guard value.utf8.count <= HTTPLimits.tokenEndpoint.bodyBytes else { throw OAuthValueError(.tooLong, subject) }
        return value
    }

    /// Checks all bytes without an early exit, so that the compiler can vectorise it: every read of a stored token
    /// calls this.
    static func isVisible(_ bytes: Span<UInt8>) -> Bool {
        var strangers: UInt8 = 0
        for index in bytes.indices {
            strangers |= bytes[index] &- 0x20 > 0x5E ? 1 : 0
        }
        return strangers == 0
    }
}
