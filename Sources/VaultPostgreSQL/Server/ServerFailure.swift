package import VaultStorage

/// PostgreSQL's error, by its SQLSTATE. Its message is not passed on: it quotes values of the rows.
struct ServerFailure {
    let state: String

    var error: StoreError {
        switch state {
        case "40001", "40P01", "55P03": .contended
        case "53100", "53400":
            StoreError(
                .full, "the database server has no space left",
                hint: "free some space there; nothing was lost")
        case "53200": StoreError(.outOfMemory, "the database server has not enough memory")
        case "42501":
            StoreError(
                .readOnly, "the database role may not do that",
                hint: "grant the vault's role what docs/postgresql.md lists")
        case "25006":
            StoreError(
                .busy, "the database server accepts no changes at the moment: it is a standby",
                hint: "try again when the new primary is there")
        case "22021", "22P05": StoreError(.invalidValue, "a text cannot be stored")
        case "54000", "54001": StoreError(.invalidValue, "a value is too long for the vault")
        case "57014": StoreError(.busy, "the database server took too long", hint: "try again; see what it is doing")
        case "3F000", "42P01", "42703":
            StoreError(
                .damaged, "the vault's tables do not have the expected structure",
                hint: "find out who changed the schema")
        default: byClass
        }
    }

    private var byClass: StoreError {
        switch state.prefix(2) {
        case "23": StoreError(.conflict, "the change contradicts what the vault holds (SQLSTATE \(state))")
        case "", "57": .unreachable
        case "08" where state != "08P01": .unreachable
        case "28": .refusedLogin
        case "58", "XX":
            StoreError(
                .io(code), "the database server could not read or write (SQLSTATE \(state))",
                hint: "see the server's log")
        default: StoreError(.io(code), "the database server refused a command (SQLSTATE \(state))")
        }
    }

    /// The state as a number: five digits in base 36.
    private var code: Int32 { Int32(state, radix: 36) ?? 0 }
}

extension StoreError {
    static var contended: StoreError {
        StoreError(
            .busy, "the vault is busy: another process has held its write lock for too long",
            hint: "try again; find what holds it if it lasts: SELECT * FROM pg_stat_activity")
    }

    package static var unreachable: StoreError {
        StoreError(
            .busy, "the database server cannot be reached",
            hint: "check whether it runs, and whether this machine reaches it")
    }

    static var refusedLogin: StoreError {
        StoreError(
            .readOnly, "the database server refused the connection",
            hint: "check user, password (PGPASSFILE, ~/.pgpass) and pg_hba.conf: psql with the same string shows more")
    }
}
