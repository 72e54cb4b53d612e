import Foundation
import Glibc
import TestSupport
import Testing

@testable import VaultImport

struct SQLiteSourceTests {
    @Test func aDatabaseInUseIsReadWithItsWALAndLeftAsItIs() async throws {
        let sample = try SampleDatabase(
            "PRAGMA journal_mode = WAL", SampleDatabase.accounts, SampleDatabase.account(1), SampleDatabase.account(2))
        let files = [sample.path, sample.path + "-wal"]
        let before = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(!before[1].isEmpty)
        let found = try await outcomes(ImportSource(path: sample.path))
        #expect(found.map { $0.login?.source.userKey } == ["u1", "u2"])
        #expect(try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
    }

    @Test func allTablesAreOfOneMoment() async throws {
        let sample = try SampleDatabase(
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE _nango_configs (id, unique_key, provider, oauth_client_id)",
            "INSERT INTO _nango_configs VALUES (1, 'crm', 'hubspot', 'c')",
            "CREATE TABLE _nango_connections (id, connection_id, provider_config_key, config_id, credentials)",
            #"INSERT INTO _nango_connections VALUES (1, 'a', 'crm', 1, '{"refresh_token":"old"}')"#)
        var rows = try ImportSource(path: sample.path).makeAsyncIterator()
        guard case .registration? = try await rows.next() else {
            Issue.record("no registration")
            return
        }
        try sample.connection.execute(#"UPDATE _nango_connections SET credentials = '{"refresh_token":"new"}'"#)
        try sample.connection.execute(
            #"INSERT INTO _nango_connections VALUES (2, 'b', 'crm', 1, '{"refresh_token":"newer"}')"#)
        var tokens: [String?] = []
        while let row = try await rows.next() {
            if case .login(let login) = row { tokens.append(login.refreshToken?.reveal()) }
        }
        #expect(tokens == ["old"])
    }

    @Test func aWriterIsNotKeptWaiting() async throws {
        let sample = try SampleDatabase("PRAGMA journal_mode = WAL", SampleDatabase.accounts, SampleDatabase.account(1))
        var rows = try ImportSource(path: sample.path).makeAsyncIterator()
        _ = try await rows.next()
        try sample.connection.execute(SampleDatabase.account(2))
        #expect(try sample.connection.integer("SELECT count(*) FROM accounts") == 2)
    }

    @Test func viewsAndTriggersNeverRun() async throws {
        let sample = try SampleDatabase(
            SampleDatabase.accounts, SampleDatabase.account(1),
            "CREATE VIEW tokens AS SELECT userId AS user, provider, access_token FROM accounts",
            "CREATE VIRTUAL TABLE found USING fts5(user, provider, access_token)")
        let source = try ImportSource(path: sample.path)
        #expect(source.detection.table == "accounts")
        #expect(try await outcomes(source).map(\.words) == ["login"])
    }

    @Test func namesAreNoSQL() async throws {
        let sample = try SampleDatabase(
            #"CREATE TABLE "a""; DROP TABLE x; --" ("user" TEXT, provider TEXT, access_token TEXT, "o""dd" TEXT)"#,
            #"INSERT INTO "a""; DROP TABLE x; --" VALUES ('alice', 'acme', 't', 'x')"#)
        #expect(try await outcomes(ImportSource(path: sample.path)).map(\.words) == ["login"])
    }

    @Test func typesAreThoseOfTheValues() async throws {
        let sample = try SampleDatabase(
            "CREATE TABLE t (user, provider, access_token, expires_at)",
            "INSERT INTO t VALUES (7, 'acme', X'6162', 1800000060), ('8', 'acme', '123', '1800000060'),"
                + " (9, 'acme', 456, 1800000060.5), (1.5, 'acme', 't', 1), (X'ff', 'acme', 't', 1)")
        let found = try await outcomes(ImportSource(path: sample.path))
        #expect(found.map(\.words) == ["login", "login", "login", "rejected: malformedValue", "rejected: notUTF8"])
        #expect(found.prefix(3).map { $0.login?.source.accessToken?.reveal() } == ["ab", "123", "456"])
        #expect(
            found.prefix(3).map { $0.login?.source.expiresAt?.timeIntervalSince1970 }
                == [1_800_000_060, 1_800_000_060, 1_800_000_060.5])
    }

    @Test func aLinkToTheFileIsFollowed() async throws {
        let sample = try SampleDatabase(SampleDatabase.accounts, SampleDatabase.account(1))
        let link = sample.directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: sample.path)
        #expect(try await outcomes(ImportSource(path: link)).count == 1)
    }

    @Test func aCutFileIsDamaged() async throws {
        let sample = try SampleDatabase(SampleDatabase.accounts)
        for number in 0..<500 { try sample.connection.execute(SampleDatabase.account(number)) }
        let bytes = try FileBytes.read(sample.path)
        let cut = sample.directory.file("cut")
        try FileBytes.write(Array(bytes.prefix(bytes.count / 2)), to: cut)
        let error = await #expect(throws: ImportError.self) {
            try await outcomes(ImportSource(path: cut))
        }
        #expect(error?.code == .damagedSource)
    }

    /// Whatever a page says, reading it ends with rows or with an error.
    @Test func noDamagedByteTraps() async throws {
        let sample = try SampleDatabase(SampleDatabase.accounts)
        for number in 0..<20 { try sample.connection.execute(SampleDatabase.account(number)) }
        let bytes = try FileBytes.read(sample.path)
        let path = sample.directory.file("flipped")
        var random = SeededGenerator(seed: 5)
        var rows = 0
        for _ in 0..<150 {
            var changed = bytes
            for _ in 0..<4 {
                changed[Int.random(in: 16..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            try? FileManager.default.removeItem(atPath: path)
            try FileBytes.write(changed, to: path)
            rows += (try? await outcomes(ImportSource(path: path)).count) ?? 0
        }
        #expect(rows > 0)
    }

    @Test func aMissingFileIsNamedAsSuch() {
        let error = #expect(throws: ImportError.self) { try ImportSource(path: "/nonexistent/source") }
        #expect(error?.code == .unreadableFile)
    }

    /// With and without a WAL that a crash has left. For root, the rights of files count only under another identity,
    /// which Linux lets a single thread take on.
    @Test(arguments: [true, false]) func databaseInAReadOnlyDirectoryIsRefusedWithAHint(_ hasWAL: Bool) throws {
        let sample = try SampleDatabase(
            "PRAGMA journal_mode = WAL", SampleDatabase.accounts, SampleDatabase.account(1))
        if !hasWAL { try sample.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        let directory = try PrivateDirectory()
        let path = directory.file("source.sqlite3")
        for suffix in hasWAL ? ["", "-wal"] : [""] {
            try FileManager.default.copyItem(atPath: sample.path + suffix, toPath: path + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + suffix)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory.path)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
        }
        let identity = try setFileIdentity(65_534)
        defer { _ = try? setFileIdentity(UInt32(bitPattern: identity)) }
        let error = #expect(throws: ImportError.self) { try ImportSource(path: path) }
        #expect(error?.code == .unreadableFile && error?.hint?.contains("-wal") == true)
    }

    /// setfsuid(2), which Swift's module of the C library leaves out. Gives the identity that it was.
    private func setFileIdentity(_ user: UInt32) throws -> Int32 {
        typealias Function = @convention(c) (UInt32) -> Int32
        let found = unsafe try #require(unsafe dlsym(nil, "setfsuid"))
        return unsafe unsafeBitCast(found, to: Function.self)(user)
    }
}
