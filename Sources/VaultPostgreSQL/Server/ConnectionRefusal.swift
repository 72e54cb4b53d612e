import CPostgreSQL
import VaultStorage

extension StoreError {
    /// Why a connection came to nothing. libpq tells it by a message alone, with lines of several hosts if there are: only
    /// the server's codes and libpq's own words are looked for, and nothing of it is passed on.
    init(refusalOf connection: OpaquePointer) {
        self.init(refusal: unsafe LibPQerrorMessage(connection).map { unsafe String(cString: $0) } ?? "")
    }

    init(refusal message: String) {
        // A connection that is lost meanwhile says nothing about how it is protected.
        let message = message.replacing("SSL SYSCALL error", with: "").replacing("SSL error: unexpected eof", with: "")
        func tells(_ parts: String...) -> Bool { parts.contains { message.contains($0) } }
        self =
            if tells("57P01:", "57P02:", "57P03:") {
                // It starts or ends: whatever another host says, it may go better in a moment.
                .unreachable
            } else if tells("53300:") {
                .noSession
            } else if tells("session is read-only", "server is in hot standby mode") {
                .standby
            } else if tells("28P01:") {
                StoreError(
                    .readOnly, "the database server refused the password of the database role",
                    hint: "check PGPASSFILE and ~/.pgpass: psql with the same string tells more")
            } else if tells("no password supplied") {
                // libpq's own word: it had none to send.
                StoreError(
                    .readOnly, "the database server asks for a password, and there is none for it",
                    hint: "put it into ~/.pgpass or into the file that PGPASSFILE names, with mode 600")
            } else if tells("28000:") {
                StoreError(
                    .readOnly, "the database server does not let the database role in from here",
                    hint: "see that the role exists and may log in, and that pg_hba.conf of each host lets it in")
            } else if tells("3D000:") {
                StoreError(
                    .vaultMissing, "the database server has no database of that name",
                    hint: "check the name at the end of the connection string, or make it: createdb NAME")
            } else if tells("42501:") {
                StoreError(
                    .readOnly, "the database role may not connect to that database",
                    hint: "grant it: GRANT CONNECT ON DATABASE ... TO ...")
            } else if tells("certificate", "SSL", "channel binding") {
                StoreError(
                    .readOnly, "no protected connection to the database server could be made",
                    hint: "check sslrootcert and the server's certificate: psql with the same string tells more")
            } else if tells("FATAL") {
                .refusedLogin
            } else {
                .unreachable
            }
    }

    /// A full server, or a role that has reached its limit.
    static var noSession: StoreError {
        StoreError(
            .busy, "the database server has no connection left for this process",
            hint: "raise max_connections or the role's CONNECTION LIMIT, or end others: SELECT * FROM pg_stat_activity")
    }

    static var standby: StoreError {
        StoreError(
            .busy, "the database server takes no changes: it is a standby, or set to be read-only",
            hint: "name all hosts of the cluster in the connection string, HOST1,HOST2, or wait for the new primary")
    }
}
