import EngineSupport
import Foundation
import TestSupport
import Testing
import VaultControl

/// What an operator can hold out to the program: each has an error of its own, and loses nothing.
struct BadInputTests {
    @Test func aWrongKeyIsToldFromADamagedVault() async throws {
        let (harness, other) = (try await Self.filled(), try await Self.filled())
        let result = try await harness.run("status", "--key-file", other.key)
        #expect(result.status == 7)
        #expect(result.error.contains("key"))
        #expect(result.error.contains("hint: "))
        try await Self.expectUnharmed(harness)
    }

    @Test func aMissingKeyFileIsNotMadeAnew() async throws {
        let harness = try await Self.filled()
        let result = try await harness.run("status", "--key-file", harness.path("none.key"))
        #expect(result.status == 7)
        #expect(!FileManager.default.fileExists(atPath: harness.path("none.key")))
    }

    @Test(arguments: [0, 1, 20, 60])
    func aTruncatedKeyFileIsToldAsSuchAndNeverReplaced(_ length: Int) async throws {
        let harness = try await Self.filled()
        let whole = try Data(contentsOf: URL(filePath: harness.key))
        try harness.file("short.key", String(decoding: whole.prefix(length), as: UTF8.self))
        for command in ["status", "init"] {
            let vault = command == "init" ? harness.path("other.vault") : harness.vault
            let result = try await harness.run(
                command, "--vault", vault, "--key-file", harness.path("short.key"))
            #expect(result.status == 7, "\(command): \(result.error)")
        }
        #expect(try Data(contentsOf: URL(filePath: harness.path("short.key"))) == whole.prefix(length))
        #expect(!FileManager.default.fileExists(atPath: harness.path("other.vault")))
    }

    @Test func aKeyFileThatOthersCanReadIsRefused() async throws {
        let harness = try await Self.filled()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: harness.key)
        let result = try await harness.run("status")
        #expect(result.status == 7)
        #expect(result.error.contains("hint: "))
    }

    @Test func aVaultThatDoesNotExistIsNotMade() async throws {
        let harness = try await Self.filled()
        let result = try await harness.run("status", "--vault", harness.path("none.vault"))
        #expect(result.status == 2)
        #expect(result.error.contains("there is no vault at"))
        #expect(!FileManager.default.fileExists(atPath: harness.path("none.vault")))
    }

    /// A path of something else is a mistake in the command line; what may be left of a vault is damage.
    @Test(
        arguments: [
            ("", 4), ("not a database at all, only some text in a file", 1), ("SQLite format 3\u{0}", 4),
        ] as [(String, Int32)])
    func aFileThatIsNoVaultIsLeftAsItIs(_ content: String, _ status: Int32) async throws {
        let harness = try await Self.filled()
        let path = try harness.file("odd.vault", content)
        let result = try await harness.run("status", "--vault", path)
        #expect(result.status == status, "\(result.error)")
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(content.utf8))
    }

    @Test func aDirectoryALinkAndAFIFOAreNoVaults() async throws {
        let harness = try await Self.filled()
        try FileManager.default.createSymbolicLink(atPath: harness.path("link"), withDestinationPath: harness.vault)
        try #require(unsafe mkfifo(harness.path("fifo"), 0o600) == 0)
        for path in [harness.directory, harness.path("link"), harness.path("fifo"), "/dev/null"] {
            let result = try await harness.run("status", "--vault", path)
            #expect(result.status != 0, "\(path)")
            #expect(result.error.hasPrefix("vaultctl: error: "))
        }
    }

    @Test(.aboutFiles("pages of the file are damaged"))
    func damagedPagesAreToldAsDamage() async throws {
        let harness = try await Self.filled()
        let size = try #require(FileManager.default.attributesOfItem(atPath: harness.vault)[.size] as? NSNumber)
            .intValue
        let handle = try FileHandle(forUpdating: URL(filePath: harness.vault))
        for offset in stride(from: 4_096, to: size, by: 4_096) {
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data(repeating: 0x55, count: 512))
        }
        try handle.close()
        for path in [harness.vault + "-wal", harness.vault + "-shm"] where FileManager.default.fileExists(atPath: path)
        {
            try FileManager.default.removeItem(atPath: path)
        }
        let result = try await harness.run("verify")
        #expect(result.status == 4, "\(result.error)")
    }

    @Test func anEditedRowIsToldByVerifyAndServedByNobody() async throws {
        let harness = try await Self.filled()
        try TableIntruder(harness.vault).execute(#"UPDATE login SET "dueAt" = coalesce("dueAt", 0) + 1"#)
        let verified = try await harness.run("verify", "--json")
        #expect(verified.status == 4)
        #expect(try verified.json["isClean"] as? Bool == false)
        let token = try await harness.run("token", "get", "--user", "alice")
        #expect(token.status == 4)
        let list = try await harness.run("login", "list")
        #expect(list.status == 0)
        #expect(list.output.contains("damaged: "))
    }

    @Test func cellsSwappedBetweenUsersAreServedToNeither() async throws {
        let harness = try await Self.filled()
        let token = try harness.file("other", Harness.marker + "other")
        try await harness.run("login", "add", "--user", "bob", "--access-token-file", token, "--expires-in", "1h")
        try TableIntruder(harness.vault).execute(
            "CREATE TEMP TABLE kept AS SELECT id, cell FROM login",
            "UPDATE login SET cell = (SELECT cell FROM kept WHERE kept.id <> login.id)")
        for user in ["alice", "bob"] {
            #expect(try await harness.run("token", "get", "--user", user).status == 4)
        }
        #expect(try await harness.run("verify").status == 4)
        #expect(try await harness.run("login", "list").output.split(separator: "\n").count == 2)
    }

    @Test func aRowOfAnOlderBackupIsNotServed() async throws {
        let harness = try await Self.filled()
        let intruder = try TableIntruder(harness.vault)
        try intruder.keepRows(of: ["login"])
        let token = try harness.file("newer", Harness.marker + "newer")
        try await harness.run("token", "update", "--user", "alice", "--access-token-file", token, "--expires-in", "2h")
        try intruder.restoreRows(of: ["login"])
        let result = try await harness.run("token", "get", "--user", "alice")
        #expect([4, 5].contains(result.status), "\(result.error)")
        #expect(try await harness.run("verify").status == 4)
    }

    @Test func aNewerVaultIsRefusedUntouched() async throws {
        let harness = try await Self.filled()
        try TableIntruder(harness.vault).setSchemaVersion(4242)
        let result = try await harness.run("status")
        #expect(result.status == 1)
        #expect(result.error.contains("schema version 4242"))
        #expect(result.error.contains("hint: use "))
    }

    @Test func unknownThingsAreNotFound() async throws {
        let harness = try await Self.filled()
        for command in [
            ["user", "show", "nobody"], ["login", "show", "aaaaaaaaaaaaaaaaaaaaaaaaaa"],
            ["token", "get", "--user", "nobody"],
            ["provider", "show", "nobody"], ["login", "list", "--user", "nobody"],
            ["login", "list", "--provider", "none"],
            ["login", "begin", "--user", "alice", "--provider", "nobody"],
        ] {
            let result = try await harness.run(command)
            #expect(result.status == 2, "\(command): \(result.error)")
            #expect(result.error.contains("hint: "), "\(command): \(result.error)")
        }
    }

    @Test func noNetworkIsTheProvidersErrorAndTheLoginLives() async throws {
        let harness = try await Self.filled()
        try await harness.run(
            "provider", "add", "gone", "--client-id", "c", "--token-endpoint", "https://127.0.0.1:1/token")
        let refresh = try harness.file("refresh", Harness.marker + "refresh")
        let login = try await harness.run(
            "login", "add", "--user", "bob", "--provider", "gone", "--refresh-token-file", refresh
        ).line
        let result = try await harness.run("token", "get", login)
        #expect(result.status == 9, "\(result.error)")
        #expect(try await harness.run("login", "show", login, "--json").output.contains("\"failure\":null"))
    }

    @Test func aFullDiskLosesNothing() async throws {
        let harness = try Harness()
        let place = harness.path("small")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let mounted = try await ProgramRun(
            URL(filePath: "/bin/mount"), ["-t", "tmpfs", "-o", "size=512k,mode=0700", "tmpfs", place])
        // Needs the right to mount; elsewhere there is nothing to try.
        guard mounted.exitCode == 0 else { return }
        let environment = ["TOKENVAULT_VAULT": place + "/app.vault", "TOKENVAULT_KEY_FILE": harness.key]
        #expect(try await harness.run("init", environment: environment).status == 0)
        let token = try harness.file("token", Harness.marker + String(repeating: "t", count: 20_000))
        var added = 0
        var status: Int32 = 0
        while status == 0, added < 200 {
            let result = try await harness.run(
                "login", "add", "--user", "user\(added)", "--access-token-file", token, "--expires-in", "1h",
                environment: environment)
            status = result.status
            added += status == 0 ? 1 : 0
            if status != 0 { #expect(result.error.contains("no space left")) }
        }
        #expect(status == 10)
        let users = try await harness.run("user", "list", environment: environment)
        #expect(users.output.split(separator: "\n").count == added)
        #expect(try await harness.run("verify", environment: environment).status == 0)
        _ = try await ProgramRun(URL(filePath: "/bin/umount"), [place])
    }

    /// A vault with a user who has a login.
    static func filled() async throws -> Harness {
        let harness = try Harness()
        let made = try await harness.run("init")
        #expect(made.status == 0, "\(made.error)")
        let token = try harness.file("token", Harness.marker + "token")
        let added = try await harness.run(
            "login", "add", "--user", "alice", "--access-token-file", token, "--expires-in", "1h")
        #expect(added.status == 0, "\(added.error)")
        return harness
    }

    static func expectUnharmed(_ harness: Harness) async throws {
        let result = try await harness.run("token", "get", "--user", "alice", "--reveal", revealing: true)
        #expect(result.line == Harness.marker + "token")
        #expect(try await harness.run("verify").status == 0)
    }
}
