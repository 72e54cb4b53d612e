import CPostgreSQL
import Platform
package import VaultStorage

/// The address of a vault on a server: a checked libpq connection string, and the schema that holds the vault's tables.
package struct ServerAddress: Sendable {
    package static let defaultSchema = "tokenvault"
    private static let schemes = ["postgresql://", "postgres://"]
    /// A name that needs no quotes has only one spelling.
    private static let longestSchema = 63

    /// Options that are refused with any value: one makes a session that is not a normal session, one writes TLS keys
    /// to a file.
    private static let refused = ["replication", "sslkeylogfile"]

    package let schema: String
    /// By libpq's keywords, as given.
    let given: [String: String]
    /// The same with libpq's additions: from a service file, the environment and its own defaults.
    let merged: ConnectionOptions

    /// Whether a text names a vault on a server rather than a file.
    package static func isOne(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0) } }

    /// - Parameters:
    ///   - text: A connection URI (`postgresql://…`), in which `schema=` may name the schema too, or libpq's
    ///     `key=value`.
    ///   - schema: The schema of the vault's tables; nil: the URI's, or ``defaultSchema``.
    /// - Throws: ``StoreError/Code/invalidValue``. The text is not repeated: it may contain a password.
    package init(_ text: String, schema: String? = nil) throws(StoreError) {
        guard !text.utf8.contains(0) else { throw Self.malformed("it contains a zero byte") }
        let (rest, named) = try Self.takeSchema(from: text)
        let name = schema ?? named ?? Self.defaultSchema
        guard Self.isSchemaName(name) else {
            throw StoreError(
                .invalidValue, "the schema's name cannot be used",
                hint: "use a to z, 0 to 9 and _, beginning with a letter, at most \(Self.longestSchema) characters")
        }
        self.schema = name
        try Self.loadLibrary()
        guard let given = ConnectionOptions(parsing: rest) else {
            throw Self.malformed("it is not one that libpq can read")
        }
        self.given = given.values
        for keyword in ["options", "service"] + Self.refused where given[keyword] != nil {
            throw Self.malformed("it sets \(keyword), which this program does not allow")
        }
        guard let defaults = ConnectionOptions.defaults() else {
            throw StoreError(.outOfMemory, "there is not enough memory to connect")
        }
        merged = defaults.overridden(by: given.values)
        for keyword in Self.refused where merged[keyword] != nil {
            throw StoreError(
                .invalidValue, "a service file of libpq sets \(keyword), which this program does not allow",
                hint: "remove \(keyword) from the service that PGSERVICE names")
        }
        try requireProtection()
    }

    private static func isSchemaName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x61...0x7a).contains(first), name.utf8.count <= longestSchema else {
            return false
        }
        return !name.hasPrefix("pg_")
            && name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    }

    /// libpq does not know `schema=`.
    private static func takeSchema(from text: String) throws(StoreError) -> (rest: String, schema: String?) {
        guard isOne(text), let mark = text.firstIndex(of: "?") else { return (text, nil) }
        let items = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: true)
        let schemas = items.filter { $0.hasPrefix("schema=") }
        guard schemas.count <= 1 else { throw malformed("it names two schemas") }
        let rest = items.filter { !$0.hasPrefix("schema=") }.joined(separator: "&")
        let name = schemas.first.map { String($0.dropFirst("schema=".count)) }
        return (String(text[..<mark]) + (rest.isEmpty ? "" : "?" + rest), name)
    }

    /// All work with a server begins here.
    private static func loadLibrary() throws(StoreError) {
        guard let reason = unsafe libpq_load() else { return }
        throw StoreError(
            .io(.notFound), "a vault on a server needs libpq: \(unsafe String(cString: reason))",
            hint: "install it, for instance: apt-get install libpq5")
    }

    private static func malformed(_ reason: String) -> StoreError {
        StoreError(
            .invalidValue, "the connection string cannot be used: \(reason)",
            hint: "write it as postgresql://USER@HOST:PORT/DATABASE")
    }
}
