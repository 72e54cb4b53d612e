/// What opens the tokens of sources that encrypt them.
public struct SourceSecrets: Sendable {
    /// Better Auth's `secrets`, by version.
    public var betterAuth: [Int: SourceSecret]
    /// Better Auth's `BETTER_AUTH_SECRET`, for values without a version.
    public var betterAuthUnversioned: SourceSecret?
    /// Nango's `NANGO_ENCRYPTION_KEY`: 32 bytes in Base64.
    public var nango: SourceSecret?
    /// A program that opens tokens which are encrypted in a way of your own: its absolute path, and its arguments.
    ///
    /// It gets each value of the columns with tokens as a line on standard input, and answers each with the token as a
    /// line on standard output, in the same order; with an empty line if it cannot. It is started once, in `/`, without a
    /// shell. It must write each answer out at once, and end with exit code 0 when its input ends. A value that is neither
    /// text nor UTF-8 comes as `\x` and hexadecimal digits.
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

    /// The text as the source's configuration has it.
    public init(_ value: String) { self.value = value }

    /// The characters. Give them to nothing that logs.
    public func reveal() -> String { value }

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
