import CSQLite
import Foundation
import TokenVault

/// Those who read for long while others write. They go on until a file says that it is enough.
enum Readings {
    /// Holds one snapshot after the other, which keeps the WAL from starting over meanwhile.
    static func longRead(_ options: Options) async throws {
        let connection = try RawConnection(options.required("vault"))
        let milliseconds = options.integer("hold", or: 2_000)
        var count = 0
        try await repeatedly(options) {
            try connection.execute("BEGIN")
            _ = try connection.integer("SELECT count(*) FROM login")
            try await Task.sleep(for: .milliseconds(milliseconds))
            _ = try connection.integer("SELECT count(*) FROM login")
            try connection.execute("COMMIT")
            count += 1
        }
        say("done \(count)")
    }

    static func verify(_ options: Options) async throws {
        let vault = try await Service.openVault(options)
        var count = 0
        try await repeatedly(options) {
            let report = try await vault.verify()
            for finding in report.findings { say("finding \(finding)".replacing("\n", with: " ")) }
            count += 1
        }
        await vault.close()
        say("done \(count)")
    }

    static func backup(_ options: Options) async throws {
        let connection = try RawConnection(options.required("vault"))
        let target = try options.required("target")
        var count = 0
        try await repeatedly(options) {
            try? FileManager.default.removeItem(atPath: target)
            try connection.execute("VACUUM INTO '\(target)'")
            count += 1
            try await Task.sleep(for: .milliseconds(200))
        }
        say("done \(count)")
    }

    private static func repeatedly(_ options: Options, _ body: () async throws -> Void) async throws {
        let end = try options.required("until")
        say("open")
        repeat { try await body() } while !Files.exist(end)
    }
}

enum Files {
    static func exist(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}

/// A connection without any of the store's settings, but one that leaves the WAL as it is.
@safe final class RawConnection: @unchecked Sendable {
    struct Refusal: Error { let code: Int32 }

    private let handle: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw Refusal(code: code)
        }
        unsafe self.handle = handle
        try execute("PRAGMA wal_autocheckpoint = 0")
        unsafe _ = vault_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil)
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Refusal(code: code) }
    }

    /// The one integer that a query gives.
    func integer(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Refusal(code: code) }
        defer { unsafe _ = sqlite3_finalize(statement) }
        let step = unsafe sqlite3_step(statement)
        guard step == SQLITE_ROW else { throw Refusal(code: step) }
        return unsafe sqlite3_column_int64(statement, 0)
    }
}
