import CPostgreSQL
import Glibc
package import VaultStorage

/// Where a vault lies on a server: a connection string of libpq, checked, and the schema that holds the vault's tables.
package struct ServerAddress: Sendable {
    package static let defaultSchema = "tokenvault"
    private static let schemes = ["postgresql://", "postgres://"]
    /// A name that needs no quotes has no two spellings.
    private static let longestSchema = 63

    package let schema: String
    /// By libpq's keywords, as they were given.
    private let given: [String: String]

    /// Whether a text names a vault on a server, and not a file.
    package static func isOne(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0) } }

    /// - Parameters:
    ///   - text: A connection URI (`postgresql://…`), in which `schema=` may name the schema too, or libpq's `key=value`.
    ///   - schema: Where the vault's tables are; nil: as the URI says, or ``defaultSchema``.
    /// - Throws: ``StoreError/Code/invalidValue``. The text is not repeated: a password may stand in it.
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
        given = try Self.parse(rest)
        for keyword in ["options", "service", "replication"] where given[keyword] != nil {
            throw Self.malformed("it sets \(keyword), which this program does not allow")
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

    /// libpq knows no `schema=`.
    private static func takeSchema(from text: String) throws(StoreError) -> (rest: String, schema: String?) {
        guard isOne(text), let mark = text.firstIndex(of: "?") else { return (text, nil) }
        let items = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: true)
        let schemas = items.filter { $0.hasPrefix("schema=") }
        guard schemas.count <= 1 else { throw malformed("it names two schemas") }
        let rest = items.filter { !$0.hasPrefix("schema=") }.joined(separator: "&")
        let name = schemas.first.map { String($0.dropFirst("schema=".count)) }
        return (String(text[..<mark]) + (rest.isEmpty ? "" : "?" + rest), name)
    }

    /// Everything that is done with a server begins here.
    private static func loadLibrary() throws(StoreError) {
        guard let reason = unsafe libpq_load() else { return }
        throw StoreError(
            .io(ENOENT), "a vault on a server needs libpq: \(unsafe String(cString: reason))",
            hint: "install it, for instance: apt-get install libpq5")
    }

    private static func parse(_ text: String) throws(StoreError) -> [String: String] {
        try loadLibrary()
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe LibPQconninfoParse(text, &message) else {
            // libpq's message quotes what it could not read, perhaps a password.
            unsafe LibPQfreemem(message)
            throw malformed("it is not one that libpq can read")
        }
        defer { unsafe LibPQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe found[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        return found
    }

    private static func malformed(_ reason: String) -> StoreError {
        StoreError(
            .invalidValue, "the connection string cannot be used: \(reason)",
            hint: "write it as postgresql://USER@HOST:PORT/DATABASE")
    }
}

// MARK: How it is connected

extension ServerAddress {
    /// Whether all hosts are this machine, so that nothing crosses a network.
    package var isLocal: Bool {
        let names = (given["hostaddr"] ?? given["host"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        return names.allSatisfy { $0.isEmpty || $0.hasPrefix("/") || $0.hasPrefix("@") || Self.isLoopback(String($0)) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// As HTTP is allowed to this machine alone, so is a connection without a checked certificate.
    private func requireProtection() throws(StoreError) {
        guard !isLocal, let mode = given["sslmode"], mode != "verify-full" else { return }
        throw StoreError(
            .invalidValue, "the server is on another machine, and sslmode=\(mode) does not check its certificate",
            hint: "use sslmode=verify-full, with sslrootcert=FILE if the certificate is not from a public authority")
    }

    /// Keywords and values for libpq. What matters to safety is always given, so that no environment variable decides it.
    var parameters: [(keyword: String, value: String)] {
        var all = given
        let forced = [
            "gssencmode": "disable", "target_session_attrs": "read-write", "client_encoding": "UTF8",
            "application_name": "tokenvault", "keepalives": "1", "keepalives_idle": "3", "keepalives_interval": "1",
            "keepalives_count": "3", "tcp_user_timeout": "5000", "connect_timeout": "5", "service": "", "options": "",
            "ssl_min_protocol_version": "TLSv1.2",
        ]
        all.merge(forced) { _, forced in forced }
        if isLocal {
            all["sslmode"] = all["sslmode"] ?? "prefer"
        } else {
            all["sslmode"] = "verify-full"
            // Also refuses passwords in the clear and by MD5. A server that asks for a client's certificate asks for no password.
            if all["sslcert"] == nil { all["channel_binding"] = "require" }
        }
        return all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether a password stands in the string itself, where others may read it.
    package var holdsPassword: Bool { given["password"] != nil || given["sslpassword"] != nil }

    /// For people: never a password.
    package var display: String {
        let host = given["host"] ?? given["hostaddr"] ?? ""
        let isPath = host.hasPrefix("/")
        var text = "postgresql://"
        if let user = given["user"] { text += "\(user)@" }
        if !isPath { text += host }
        if let port = given["port"], !isPath { text += ":\(port)" }
        text += "/\(given["dbname"] ?? "")"
        var query: [String] = []
        if isPath { query.append("host=\(host)") }
        if isPath, let port = given["port"] { query.append("port=\(port)") }
        if schema != Self.defaultSchema { query.append("schema=\(schema)") }
        return query.isEmpty ? text : text + "?" + query.joined(separator: "&")
    }
}
