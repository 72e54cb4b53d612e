/// A value that each log-in brings, such as a shop's subdomain. `{name}` stands for it in endpoints and parameters.
public struct ProfileVariable: Hashable, Sendable {
    /// Letters, digits and underscores.
    public let name: String
    /// What the value is, for people.
    public let says: String
    /// A value that fits.
    public let example: String
    /// A regular expression for the whole value.
    package let pattern: String
    /// Whether it may be a whole host. The operator then allows hosts one by one.
    package let isAnyHost: Bool

    package static let hostLabel = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
    /// A host name has no more.
    private static let longestValue = 253

    package init(
        name: String, says: String, example: String, pattern: String = ProfileVariable.hostLabel,
        isAnyHost: Bool = false
    ) {
        self.name = name
        self.says = says
        self.example = example
        self.pattern = pattern
        self.isAnyHost = isAnyHost
    }

    /// Whether a value fits the pattern. A pattern that cannot be read fits nothing.
    package func accepts(_ value: String) -> Bool {
        guard (1...Self.longestValue).contains(value.utf8.count), value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            let regex = try? Regex(pattern)
        else { return false }
        return (try? regex.wholeMatch(in: value)) != nil
    }

    static func isName(_ name: some StringProtocol) -> Bool {
        (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            }
    }
}
