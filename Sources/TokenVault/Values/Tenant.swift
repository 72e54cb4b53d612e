/// One of several bodies of users and providers in a vault, such as a customer of a service for companies.
///
/// The same user id in two tenants is two users, and the same provider name two registrations. ``UserManager/scoped(to:)``
/// gives a manager under which they have their plain names.
///
/// In the vault, and in listings of the whole vault, a tenant's user has a *qualified* id: U+001D, the tenant's name,
/// U+001D, and the id within the tenant. Plain user ids do not begin with U+001D, so no id can be taken for one of a tenant.
public struct Tenant: Hashable, Sendable, LosslessStringConvertible {
    static let separator: UInt8 = 0x1D
    private static let longestName = 64

    package let name: String

    /// - Parameter name: From 1 to 64 letters, digits, dots, hyphens and underscores of ASCII. Upper and lower case are
    ///   different. The result is nil for any other text.
    public init?(_ name: String) {
        guard Self.isName(name) else { return nil }
        self.name = name
    }

    /// The tenant's name.
    public var description: String { name }

    /// Whether the text is fit to be a name.
    static func isName(_ name: String) -> Bool {
        (1...longestName).contains(name.utf8.count) && name.utf8.allSatisfy(isNameByte)
    }

    /// Reads a qualified user id, as handlers and listings of the whole vault give it; nil for a user of no tenant.
    public static func of(_ userId: String) -> (tenant: Tenant, userId: String)? {
        let bytes = userId.utf8
        guard bytes.first == separator else { return nil }
        let rest = bytes.dropFirst()
        guard let end = rest.firstIndex(of: separator), let name = String(rest[..<end]), let tenant = Tenant(name),
            let plain = String(rest[rest.index(after: end)...])
        else { return nil }
        return (tenant, plain)
    }

    /// Returns the name in the vault of a user or a provider of this tenant.
    package func qualify(_ name: String) -> String { prefix + name }

    /// The plain name, if it is one of this tenant.
    func plain(_ qualified: String) -> String? {
        let prefix = prefix.utf8
        guard qualified.utf8.starts(with: prefix) else { return nil }
        return String(qualified.utf8.dropFirst(prefix.count))
    }

    static func isQualified(_ name: String) -> Bool { name.utf8.first == separator }

    /// The tenant's part of a qualified name, and nothing for a plain one: two that are equal belong together.
    static func prefix(of name: String) -> [UInt8] {
        guard let tenant = of(name)?.tenant else { return isQualified(name) ? [separator] : [] }
        return Array(tenant.prefix.utf8)
    }

    var prefix: String { "\u{1D}\(name)\u{1D}" }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
