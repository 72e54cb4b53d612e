import CSQLite
import Platform
import VaultStorage

extension StoreError {
    /// Names what SQLite reported.
    init(sqlite code: Int32, systemError number: Int32 = 0) {
        let systemError = SystemError(number)
        if systemError == .noSpace || systemError == .overQuota {
            self = .diskFull
            return
        }
        if systemError == .readOnlyFileSystem {
            self = .turnedReadOnly
            return
        }
        if let limit = Self.limit(systemError) {
            self = limit
            return
        }
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(
                .busy, "the vault is busy: another process has held its write lock for too long",
                hint: "try again; find the process that holds the vault if it lasts")
        case SQLITE_FULL:
            self = .diskFull
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            self.init(
                .readOnly, "the vault cannot be written",
                hint: "check that the file, its directory and the file system are writable for this user")
        case SQLITE_CORRUPT:
            self.init(
                .damaged, "the vault file is damaged (SQLite code \(code))",
                hint: "stop all writers, keep a copy of the file, and restore a backup")
        case SQLITE_NOTADB:
            self.init(.notAVault, "the file is not a vault", hint: "check the path")
        case SQLITE_NOMEM:
            self.init(.outOfMemory, "there is not enough memory")
        case SQLITE_CANTOPEN:
            self.init(
                .io(code), "the vault cannot be opened (SQLite code \(code))",
                hint: "check that its directory exists and is writable for this user")
        case SQLITE_CONSTRAINT:
            self.init(.conflict, "the change contradicts what the vault holds (SQLite code \(code))")
        case SQLITE_TOOBIG:
            self.init(.invalidValue, "a value is too long for the vault")
        default:
            self.init(.io(code), "reading or writing the vault failed (SQLite code \(code))")
        }
    }

    static func busy(writer process: Int32) -> StoreError {
        StoreError(
            .busy, "the vault is busy: process \(process) has held its write lock for too long",
            hint:
                "see what it is doing: ps -fp \(process); if it is stalled, end it: what it has not committed is undone"
        )
    }

    /// Limits of this process or machine, unrelated to the vault.
    private static func limit(_ systemError: SystemError) -> StoreError? {
        switch systemError {
        case .fileTooLarge:
            StoreError(
                .io(systemError), "the vault would become larger than this process may make a file",
                hint: "raise its limit: ulimit -f, or LimitFSIZE= in the service's unit")
        default: .tooManyFiles(systemError)
        }
    }
}
