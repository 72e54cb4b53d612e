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
            if tells("57P01:", "57P02:", "57P03:", "53300:") {
                // It starts, ends, or has no session left: whatever another host says, it may go better in a moment.
                .unreachable
            } else if tells("session is read-only", "server is in hot standby mode") {
                .standby
            } else if tells("28000:", "28P01:") {
                .refusedLogin
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

    static var standby: StoreError {
        StoreError(
            .busy, "the database server takes no changes: it is a standby, or set to be read-only",
            hint: "name all hosts of the cluster in the connection string, HOST1,HOST2, or wait for the new primary")
    }
}
