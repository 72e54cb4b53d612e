import Platform
import VaultStorage

extension ServerAddress {
    /// Whether all hosts are this machine, so that nothing crosses a network: judged by where libpq connects, not by
    /// the string alone.
    package var isLocal: Bool { merged.isLocal }

    /// A connection without a checked certificate is allowed to this machine only, as HTTP is.
    func requireProtection() throws(StoreError) {
        guard !isLocal, let mode = given["sslmode"], mode != "verify-full" else { return }
        throw StoreError(
            .invalidValue, "the server is on another machine, and sslmode=\(mode) does not check its certificate",
            hint: "use sslmode=verify-full, with sslrootcert=FILE if the certificate is not from a public authority")
    }

    /// A user who can write the file of trusted authorities can impersonate any server. `system` is not a file.
    func requireTrustedRoots() throws(StoreError) {
        guard !isLocal, let path = merged["sslrootcert"], path != "system" else { return }
        let file: TrustedPath.Opened
        do throws(TrustedPath.Flaw) { file = try TrustedPath.open(path, for: .locating) } catch {
            // libpq reports a file that it cannot read.
            guard let reason = error.reason else { return }
            throw StoreError(
                .unsafeFile, "the file of sslrootcert is refused: \(PathName.shown(path)) \(reason)",
                hint: error.hint ?? "use a directory of your own")
        }
        guard file.status.isOursOrRoots, file.status.permissions & 0o022 == 0 else {
            throw StoreError(
                .unsafeFile, "the file of sslrootcert is refused: other users can change \(PathName.shown(path))",
                hint: "run: chmod go-w \(PathName.shown(path))")
        }
    }

    /// Keywords and values for libpq. Everything that matters to safety is always given, so that no environment
    /// variable and no service file decides it.
    var parameters: [(keyword: String, value: String)] {
        var all = given
        // The destination is decided once.
        for keyword in ["host", "hostaddr"] { all[keyword] = merged[keyword] }
        all.merge(demanded) { _, demanded in demanded }
        if isLocal { all["sslmode"] = given["sslmode"] ?? "prefer" }
        return all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private var demanded: [String: String] {
        var all = [
            "gssencmode": "disable", "target_session_attrs": "read-write", "client_encoding": "UTF8",
            "application_name": "tokenvault", "keepalives": "1", "keepalives_idle": "3", "keepalives_interval": "1",
            "keepalives_count": "3", "tcp_user_timeout": "5000", "connect_timeout": "5",
            "ssl_min_protocol_version": "TLSv1.2",
        ]
        // libpq ignores an empty value, so a blank means no options. By default none are given: poolers refuse any,
        // before they can be distinguished from a server.
        if merged["options"] != nil { all["options"] = " " }
        if merged.keywords.contains("gssdelegation") { all["gssdelegation"] = "0" }
        guard !isLocal else { return all }
        all["sslmode"] = "verify-full"
        // A server that asks for a client's certificate asks for no password. Only the string itself says that it does.
        guard given["sslcert"] == nil else { return all }
        // Also refuses passwords in the clear and by MD5.
        all["channel_binding"] = "require"
        if merged.keywords.contains("require_auth") { all["require_auth"] = "scram-sha-256" }
        return all
    }

    /// Refuses a connection whose options differ from those decided: a service file may have changed meanwhile. Nothing
    /// has been sent yet.
    func requireAsDecided(_ used: ConnectionOptions) throws(StoreError) {
        let isAsDecided = demanded.allSatisfy { used[$0.key] == $0.value }
        guard used.isLocal == isLocal, isAsDecided, used["options"] == demanded["options"] else {
            throw StoreError(
                .busy, "the connection's options changed while it was being made",
                hint: "try again; name the host in the connection string instead of a service file")
        }
    }

    /// Whether the string itself contains a password, where others may read it.
    package var holdsPassword: Bool { given["password"] != nil || given["sslpassword"] != nil }

    /// For people: never contains a password.
    package var display: String {
        let host = given["host"] ?? given["hostaddr"] ?? merged["host"] ?? merged["hostaddr"] ?? ""
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
