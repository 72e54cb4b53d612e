import Foundation
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// What a witness log tells of the time since a backup.
@Suite struct MovedLoginsTests {
    private struct Scene {
        let vault: BackedUpVault
        let backup: BackupManifest
        let login: LoginHandle

        init() async throws {
            vault = try await BackedUpVault()
            backup = try BackupFile(at: vault.backup).manifest
            let store = try vault.sample.open()
            login = try await store.user(SampleVault.oneLogin).logins[0]
            store.close()
        }

        var since: Int64 { backup.auditSequence }
        var vaultID: String { Base32.encode(backup.vault) }
        var begin: String { "begin \(since) \(backup.incarnation) \(vaultID)\n" }

        func read(_ texts: String...) throws -> MovedLogins {
            var paths: [String] = []
            for (number, text) in texts.enumerated() {
                paths.append(vault.sample.directory.file("log\(number)"))
                try FileBytes.write(Array(text.utf8), to: paths[number])
            }
            return try MovedLogins(paths, since: backup)
        }
    }

    /// Neither waited for nor read twice.
    @Test func whatIsNotAFileIsRefused() async throws {
        let scene = try await Scene()
        let pipe = scene.vault.sample.directory.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/null", scene.vault.sample.directory.path] {
            let error = #expect(throws: StoreError.self) { try EvidenceFile(path).isJSON() }
            #expect(error?.code == .invalidValue && error?.hint?.contains("save it in a file") == true, "\(path)")
        }
    }

    @Test func eachLoginWhoseTokenWasSentSinceIsNamed() async throws {
        let scene = try await Scene()
        let (login, since) = (scene.login.text, scene.since)
        let none = try scene.read(scene.begin)
        #expect(none.logins.isEmpty && none.doubt == nil)
        let before = try scene.read(scene.begin + "\(since) \(login) 1\n")
        #expect(before.logins.isEmpty && before.doubt == nil)
        let after = try scene.read(scene.begin + "\(since + 1) \(login) 1\n\n\(since + 7) \(login) 2\n")
        #expect(after.logins == [scene.login] && after.doubt == nil)
        // In parts, in any order.
        let parts = try scene.read("begin \(since + 5) 1 \(scene.vaultID)\n\(since + 6) \(login) 2\n", scene.begin)
        #expect(parts.logins == [scene.login] && parts.doubt == nil)
    }

    /// Whatever leaves room for a login that is not named.
    @Test func aLogThatMayLackLinesIsInDoubt() async throws {
        let scene = try await Scene()
        let (login, since) = (scene.login.text, scene.since)
        let line = "\(since + 3) \(login) 1\n"
        let doubtful = [
            "", line,
            "begin \(since + 1) \(scene.backup.incarnation) \(scene.vaultID)\n" + line,
            "begin \(since) \(scene.backup.incarnation + 1) \(scene.vaultID)\n" + line,
            scene.begin + "gap \(since + 1)\n" + line,
            scene.begin + "gap \(since - 1)\n" + line,
            scene.begin + line + "gap \(since + 4)\n",
            scene.begin + "gap x\n" + line,
            scene.begin + line + "\(since + 4) \(login)",
            scene.begin + "\(since + 4) nonsense 1\n" + line,
            scene.begin + "begin 1 1\n" + line,
            scene.begin + line + String(repeating: "1", count: 200_000),
        ]
        for text in doubtful {
            #expect(try scene.read(text).doubt != nil, "\(text.prefix(200))")
        }
        // A gap that had ended when the backup was made.
        let old = try scene.read(scene.begin + "gap \(since - 2)\n\(since - 1) \(login) 1\n" + line)
        #expect(old.doubt == nil && old.logins == [scene.login])
        #expect(throws: StoreError.self) { try scene.read("begin \(since) 1 AAAAAAAAAAAAAAAAAAAAAAAAAA\n") }
        #expect(throws: StoreError.self) { try MovedLogins(["/nowhere"], since: scene.backup) }
        // A file none of whose lines can be read is no log.
        for text in ["hello\n", "SQLite format 3\0\n", "tokenvault-key-1-x\n", String(repeating: "1", count: 200_000)] {
            #expect(throws: StoreError.self, "\(text.prefix(40))") { try scene.read(text) }
        }
    }

    /// From renewals to the restored vault: the login that moved is held, and no other.
    @Test func onlyTheLoginThatMovedIsHeld() async throws {
        let scene = try await Scene()
        let (sample, path) = (scene.vault.sample, scene.vault.sample.directory.file("intents"))
        let log = IntentLog(path)
        let store = try sample.open()
        try log.begin(after: scene.since, store.context)
        let open = Set(try await store.openIntents(after: nil, limit: 100).intents.map(\.login))
        try log.append([OpenedIntent(sequence: scene.since + 2, login: scene.login, generation: 1)], store.context)
        store.close()
        let moved = try MovedLogins([path], since: scene.backup)
        #expect(moved.doubt == nil)
        try scene.vault.restore(.moved(moved.logins))
        let restored = try scene.vault.open()
        defer { restored.close() }
        let held = try await restored.logins(ofUser: nil, after: nil, limit: 100).filter { $0.login?.isHeld == true }
        #expect(Set(held.map(\.handle)) == open.union([scene.login]))
    }
}
