import Foundation
import TestSupport
import TokenVault
import VaultAdministration
import VaultStorage

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
