/// What opens the tokens of sources that encrypt them.
public struct SourceSecrets: Sendable {
    /// Better Auth's `secrets`, by version.
    public var betterAuth: [Int: SourceSecret]
    /// Better Auth's `BETTER_AUTH_SECRET`, for values without a version.
    public var betterAuthUnversioned: SourceSecret?
    /// Nango's `NANGO_ENCRYPTION_KEY`: 32 bytes in Base64.
    public var nango: SourceSecret?

    public init(
        betterAuth: [Int: SourceSecret] = [:], betterAuthUnversioned: SourceSecret? = nil, nango: SourceSecret? = nil
    ) {
        self.betterAuth = betterAuth
        self.betterAuthUnversioned = betterAuthUnversioned
        self.nango = nango
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
