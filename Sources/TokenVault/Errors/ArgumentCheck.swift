/// Checks of arguments: an invalid one is refused before anything is read or sent.
package enum ArgumentCheck {
    /// The maximum length of a user id in bytes: ids are read with every token.
    private static let longestUserId = 1_024

    /// Whether a name that begins with U+001D is accepted as a tenant's name. True only where an operator has named the
    /// tenant; elsewhere a stranger may have chosen the name.
    @TaskLocal package static var takesQualified = false

    static func isForeign(_ name: String) -> Bool { Tenant.isQualified(name) && !takesQualified }

    /// Any text is a user id, line breaks and escape codes included, if it is neither empty nor too long.
    package static func userId(_ userId: String) throws -> String {
        guard !isForeign(userId) else {
            throw VaultError(
                .invalidArgument, "a user id that begins with U+001D is one of a tenant",
                hint: "name the user within the tenant: users.scoped(to: tenant)")
        }
        return try qualifiedUserId(userId)
    }

    /// Returns a user id as the vault stores it, with the tenant.
    static func qualifiedUserId(_ userId: String) throws -> String {
        let length = userId.utf8.count
        guard length > 0 else { throw VaultError(.invalidArgument, "the user id is empty") }
        guard length <= longestUserId else {
            throw VaultError(.invalidArgument, "the user id is longer than \(longestUserId) bytes")
        }
        return userId
    }

    /// Returns the name of a new provider if it is valid.
    static func providerName(_ name: String) throws -> String {
        guard !name.isEmpty, name.utf8.count <= 128 else {
            throw VaultError(.invalidArgument, "a provider's name has 1 to 128 bytes")
        }
        guard !isForeign(name) else {
            throw VaultError(
                .invalidArgument, "a provider's name that begins with U+001D is one of a tenant",
                hint: "add it to the tenant: vault.addProvider(_:of: tenant)")
        }
        return name
    }

    /// Requires that a tenant's user logs in only at providers of the same tenant.
    static func requireOneTenant(_ userId: String, _ provider: String) throws {
        guard Tenant.prefix(of: userId) == Tenant.prefix(of: provider) else {
            throw VaultError(
                .unknownProvider, "the user's tenant has no such provider",
                hint: "a tenant has providers of its own: add it by users.scoped(to: tenant)")
        }
    }

    static func label(_ label: String?) throws -> String? {
        guard let label else { return nil }
        guard label.utf8.count <= longestUserId else {
            throw VaultError(.invalidArgument, "the label is longer than \(longestUserId) bytes")
        }
        return label
    }

    /// The maximum length in bytes of another system's name, which is in the cell of each login.
    private static let longestSource = 64

    /// Returns the name of another system, from or to which logins are moved, if it is valid.
    package static func source(_ name: String) throws -> String {
        guard (1...longestSource).contains(name.utf8.count) else {
            throw VaultError(.invalidArgument, "the name of another system has from 1 to \(longestSource) bytes")
        }
        return name
    }

    /// Requires that each observer's name is valid, and that no two have the same: they would share one position.
    static func observerNames(_ names: [String]) throws {
        var seen: Set<String> = []
        for name in names {
            guard Tenant.isName(name) else {
                throw VaultError(
                    .invalidArgument,
                    "an observer's name has from 1 to 64 letters, digits, dots, hyphens and underscores")
            }
            guard seen.insert(name).inserted else {
                throw VaultError(
                    .invalidArgument, "two observers of this service have the name \(name)",
                    hint: "give each observer a name of its own: the vault keeps its position under it")
            }
        }
    }

    private static let mostMetadata = 16
    private static let longestMetadataName = 64
    private static let longestMetadata = 4_096

    static func metadata(_ metadata: [String: String]) throws -> [String: String] {
        let length = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard metadata.count <= mostMetadata, length <= longestMetadata,
            metadata.keys.allSatisfy({ (1...longestMetadataName).contains($0.utf8.count) })
        else {
            throw VaultError(
                .invalidArgument,
                "a login has up to \(mostMetadata) values, with names of 1 to \(longestMetadataName) bytes, and "
                    + "\(longestMetadata) bytes in all",
                hint: "keep in your own tables what is larger, under the login's id")
        }
        return metadata
    }

    /// Longer URIs are refused: they are read with every token of the login.
    private static let longestResource = 2_048

    /// Whether it is an absolute URI without a fragment (RFC 8707 §2).
    static func isResource(_ resource: String) -> Bool {
        resource.utf8.count <= longestResource && !resource.contains("#")
            && resource.utf8.allSatisfy { (0x21...0x7E).contains($0) } && hasScheme(resource)
    }

    /// RFC 3986 §3.1, and something after it.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        let rest = text[text.index(after: colon)...]
        return !rest.isEmpty
            && text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
