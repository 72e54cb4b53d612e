import CPostgreSQL
import VaultStorage

extension StoreError {
    /// The reason why a connection failed. libpq only reports a message, with lines from several hosts if there are:
    /// the code searches it for the server's codes and libpq's own words, and passes on nothing of it.
    init(refusalOf connection: OpaquePointer) {
        self.init(refusal: unsafe LibPQerrorMessage(connection).map { unsafe String(cString: $0) } ?? "")
    }

    init(refusal message: String) {
        // A connection that is lost meanwhile says nothing about its protection.
        let message = message.replacing("SSL SYSCALL error", with: "").replacing("SSL error: unexpected eof", with: "")
        func tells(_ parts: String...) -> Bool { parts.contains { message.contains($0) } }
        self =
            if tells("57P01:", "57P02:", "57P03:") {
                // The server is starting or stopping: whatever another host says, a retry in a moment may succeed.
                .unreachable
            } else if tells("53300:") {
                .noSession
            } else if tells("session is read-only", "server is in hot standby mode") {
                .standby
            } else if tells("28P01:") {
                StoreError(
                    .readOnly, "the database server refused the password of the database role",
                    hint: "check PGPASSFILE and ~/.pgpass: psql with the same string shows more")
            } else if tells("no password supplied") {
                // libpq's own words: it had no password to send.
                StoreError(
                    .readOnly, "the database server asks for a password, and there is none for it",
                    hint: "put it into ~/.pgpass or into the file that PGPASSFILE names, with mode 600")
            } else if tells("28000:") {
                StoreError(
                    .readOnly, "the database server does not allow the database role to connect from here",
                    hint: "check that the role exists and may log in, and that pg_hba.conf of each host allows it")
            } else if tells("3D000:") {
                StoreError(
                    .vaultMissing, "the database server has no database of that name",
                    hint: "check the name at the end of the connection string, or make it: createdb NAME")
            } else if tells("42501:") {
                StoreError(
                    .readOnly, "the database role may not connect to that database",
                    hint: "grant it: GRANT CONNECT ON DATABASE ... TO ...")
            } else if tells("definition of service \"", "service file \"") {
                StoreError(
                    .invalidValue, "the service that PGSERVICE names is in no service file",
                    hint: "unset PGSERVICE, or check ~/.pg_service.conf and the file that PGSERVICEFILE names")
            } else if tells("server does not support SSL") {
                StoreError(
                    .readOnly, "no secure connection to the database server was possible: it does not speak TLS",
                    hint: "turn TLS on there (ssl = on), or use its UNIX socket; check host and port, too")
            } else if tells("connection option \"port\"", "invalid port number") {
                StoreError(
                    .invalidValue, "the connection string cannot be used: its port is not a number from 1 to 65535",
                    hint: "write it as postgresql://USER@HOST:PORT/DATABASE")
            } else if message.hasPrefix("invalid ") {
                StoreError(
                    .invalidValue,
                    "the connection string cannot be used: an option has a value that libpq does not know",
                    hint: "check the part after the ?, such as sslmode; and the variables that begin with PG")
            } else if tells("invalid response to SSL negotiation") {
                StoreError(
                    .readOnly, "the server there is not a PostgreSQL server",
                    hint: "check host and port in the connection string"
                )
            } else if tells("certificate", "SSL", "channel binding") {
                StoreError(
                    .readOnly, "no secure connection to the database server was possible",
                    hint: "check sslrootcert and the server's certificate: psql with the same string shows more")
            } else if tells("FATAL") {
                .refusedLogin
            } else {
                Self.causes.first { message.contains($0.words) }
                    .map { StoreError(.busy, "\(Self.unreachable.message): \($0.cause)", hint: $0.hint) }
                    ?? .unreachable
            }
    }

    /// The reasons why no server was reached, by libpq's words or the system's.
    private static let causes = [
        (
            words: "could not translate host name", cause: "its host name was not found",
            hint: "check the host in the connection string, and this machine's DNS"
        ),
        (
            words: "No such file or directory", cause: "none listens on this machine's socket",
            hint: "name its host: postgresql://USER@HOST/DATABASE; or check whether it runs"
        ),
        (
            words: "Connection refused", cause: "nothing listens there",
            hint: "check whether it runs, and check host and port in the connection string"
        ),
        (
            words: "timeout expired", cause: "it does not answer",
            hint: "check whether it runs, and whether a firewall blocks it"
        ),
    ]

    /// The server is full, or the role has reached its limit.
    static var noSession: StoreError {
        StoreError(
            .busy, "the database server has no connection left for this process",
            hint: "raise max_connections or the role's CONNECTION LIMIT, or end others: SELECT * FROM pg_stat_activity")
    }

    static var standby: StoreError {
        StoreError(
            .busy, "the database server accepts no changes: it is a standby, or set to be read-only",
            hint: "name all hosts of the cluster in the connection string, HOST1,HOST2, or wait for the new primary")
    }
}
