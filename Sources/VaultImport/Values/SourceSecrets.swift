/// The secrets for sources that encrypt their tokens.
public struct SourceSecrets: Sendable {
    /// Better Auth's `secrets`, by version.
    public var betterAuth: [Int: SourceSecret]
    /// Better Auth's `BETTER_AUTH_SECRET`, for values without a version.
    public var betterAuthUnversioned: SourceSecret?
    /// Nango's `NANGO_ENCRYPTION_KEY`: 32 bytes in Base64.
    public var nango: SourceSecret?
    /// A program that decrypts tokens which your system encrypted in its own way: its absolute path, and its arguments.
    ///
    /// It reads each value of the token columns as a line on standard input, and answers each with the token as a line
    /// on standard output, in the same order; an empty line means that it cannot decrypt the value. It is started once,
    /// in `/`, without a shell. It must flush each answer immediately, and exit with code 0 when its input ends. A
    /// value that is not UTF-8 text is passed as `\x` and hexadecimal digits.
    public var decryptCommand: [String]?

    public init(
        betterAuth: [Int: SourceSecret] = [:], betterAuthUnversioned: SourceSecret? = nil, nango: SourceSecret? = nil,
        decryptCommand: [String]? = nil
    ) {
        self.betterAuth = betterAuth
        self.betterAuthUnversioned = betterAuthUnversioned
        self.nango = nango
        self.decryptCommand = decryptCommand
    }
}

/// A secret of the source's own configuration. It prints as redacted.
public struct SourceSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: String

    /// The text from the source's configuration.
    public init(_ value: String) { self.value = value }

    /// The characters. Never log them.
    public func reveal() -> String { value }

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
