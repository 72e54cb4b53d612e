import Foundation
import TestSupport
import Testing
import VaultCrypto
import VaultMigrations

@testable import VaultSQLite
@testable import VaultStorage

/// A WAL that is left behind, and a vault file that it was not written for.
@Suite struct WALMarkTests {
    /// A vault of which a process was killed, so that its WAL holds a change, and copies of its file from before.
    private struct Killed {
        let fixture: VaultFixture
        let login: LoginHandle
        /// The vault's file after each clean stop.
        var stops: [Data] = []

        init(stops count: Int) async throws {
            fixture = try VaultFixture()
            login = try await fixture.populateBriefly("alice")
            stops.append(try file)
            for _ in 1..<count {
                try await change()
                stops.append(try file)
            }
            #expect(try Probe(fixture, visits: login, "kill").wait() != 0)
            #expect(fixture.walSize > 0)
        }

        var file: Data { get throws { try Data(contentsOf: URL(filePath: fixture.path)) } }
        var wal: Data { get throws { try Data(contentsOf: URL(filePath: fixture.path + "-wal")) } }

        func change() async throws {
            let store = try fixture.open()
            defer { store.close() }
            try await store.updateLogin(login) { $0.session.attempts += 1 }
        }

        func put(_ bytes: Data, _ suffix: String = "") throws {
            try bytes.write(to: URL(filePath: fixture.path + suffix))
        }

        /// Nothing opens it, and nothing is changed by trying.
        func expectRefused(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let before = (try file, try wal)
            for _ in 0..<2 {
                let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try fixture.open() }
                #expect(error?.code == .rollbackSuspected, sourceLocation: sourceLocation)
                #expect(
                    error?.hint?.contains("/vault.db-wal' '") == true && error?.hint?.contains("mv '") == true,
                    sourceLocation: sourceLocation)
            }
            let status = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
                try SQLiteVaultStore.migrations(at: fixture.path)
            }
            #expect(status?.code == .rollbackSuspected, sourceLocation: sourceLocation)
            #expect(try before == (file, wal), sourceLocation: sourceLocation)
        }
    }

    @Test func anOlderCopyBesideTheLogOfAKilledProcessIsRefused() async throws {
        let killed = try await Killed(stops: 4)
        for stop in killed.stops.dropLast() {
            try killed.put(stop)
            try killed.expectRefused()
        }
        // As the hint says.
        try FileManager.default.moveItem(
            atPath: killed.fixture.path + "-wal", toPath: killed.fixture.path + "-wal.unused")
        let store = try killed.fixture.open()
        #expect(try await store.login(killed.login).session.attempts == 2)
        store.close()
        try await killed.fixture.expectWhole { try await $0.login(killed.login).session.attempts == 2 }
    }

    /// The WAL was written for it: it is brought up to the newest state.
    @Test func aCopyOfTheLastStopIsBroughtUpToDate() async throws {
        let killed = try await Killed(stops: 4)
        try killed.put(#require(killed.stops.last))
        let store = try killed.fixture.open()
        #expect(try await store.login(killed.login).session.attempts == 4)
        store.close()
        try await killed.fixture.expectWhole { try await $0.login(killed.login).session.attempts == 4 }
    }

    @Test func anOlderLogBesideANewerFileIsRefused() async throws {
        let killed = try await Killed(stops: 3)
        let log = try killed.wal
        for _ in 0..<3 { try await killed.change() }
        #expect(killed.fixture.walSize == 0)
        try killed.put(log, "-wal")
        try killed.expectRefused()
    }

    @Test func theLogOfAnotherVaultIsRefused() async throws {
        let killed = try await Killed(stops: 2)
        let other = try await Killed(stops: 2)
        try killed.put(other.wal, "-wal")
        try killed.expectRefused()
    }

    /// `VACUUM INTO` lays the pages out anew, so that not even the WAL of the same moment fits.
    @Test func aCopyWithOtherPagesIsRefused() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        let probe = try Probe(fixture, visits: login, "linger")
        try RawDatabase(fixture.path).execute("VACUUM INTO '\(fixture.directory.file("copy.db"))'")
        _ = probe.kill()
        #expect(fixture.walSize > 0)
        try Data(contentsOf: URL(filePath: fixture.directory.file("copy.db"))).write(to: URL(filePath: fixture.path))
        let error = #expect(throws: StoreError.self) { try fixture.open() }
        #expect(error?.code == .rollbackSuspected)
    }

    /// SQLite's own backup starts the count of schema changes at 1.
    @Test func aCopyThatSQLiteMadeIsWhole() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        try fixture.edit("PRAGMA schema_version = 1; PRAGMA wal_checkpoint(TRUNCATE)")
        let store = try fixture.open()
        #expect(try await store.verify().findings.isEmpty)
        try await store.updateLogin(login) { $0.session.label = "changed" }
        #expect(try await store.verify().findings.isEmpty)
    }

    /// As when another process brings the schema up to date and closes the vault, between the look at the log's size and
    /// the look at what is in it.
    @Test func aLogThatHasJustBeenEmptiedFits() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.edit("CREATE TABLE later (id INTEGER PRIMARY KEY); PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(fixture.walSize == 0)
        #expect(try fixture.integer("SELECT schemaCookie FROM walMark") > 0)
        let connection = try Connection(path: fixture.path)
        #expect(try WALMark.belongTogether(connection, try VaultFile(fixture.path)))
    }

    /// A vault from before there were marks, and nothing of it in its file yet.
    @Test func aMigrationThatWasKilledGoesOn() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBack()
        // A vault of that version has no pages that newer tables have left.
        try fixture.edit("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        let older = try Data(contentsOf: URL(filePath: fixture.path))
        do {
            // Closes without a checkpoint.
            let connection = try Connection(path: fixture.path)
            try connection.configure()
            let migrator = Migrator(try VaultFile(fixture.path), clock: fixture.clock)
            for migration in Migrations.all { try migrator.apply(migration, on: connection) }
        }
        #expect(fixture.walSize > 0)
        #expect(try Probe(fixture, visits: login, "kill").wait() != 0)
        let store = try fixture.open()
        try await store.updateLogin(login) { $0.session.attempts += 1 }
        store.close()
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 2 }
        // Later WALs do not fit the file of that time.
        let visit = try Probe(fixture, visits: login, "kill")
        #expect(visit.wait() != 0)
        try older.write(to: URL(filePath: fixture.path))
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        }
        #expect(error?.code == .rollbackSuspected)
    }

    /// A WAL without any mark, as a vault of an older version leaves it.
    @Test func aLogOfAnOlderVersionIsReplayed() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBackAndLeaveLog()
        _ = try SQLiteVaultStore.migrate(at: fixture.path, clock: fixture.clock)
        #expect(try SQLiteVaultStore.migrations(at: fixture.path).first?.appliedAt == Timestamp(milliseconds: 77))
        try fixture.open().close()
        try await fixture.expectWhole { try await $0.session(.user("alice")).session.state == .established }
    }

    /// Where pages are free, neither the number of pages nor SQLite's check shows that a file and a WAL of the same vault are
    /// not of the same time.
    @Test func mismatchedLogOfAnOlderVaultIsRefused() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBack()
        let (file, log) = (URL(filePath: fixture.path), URL(filePath: fixture.path + "-wal"))
        func expectRefused() {
            let error = #expect(throws: StoreError.self) { try SQLiteVaultStore.migrations(at: fixture.path) }
            #expect(error?.code == .rollbackSuspected)
        }
        /// What writes the first page, and nothing else that would show.
        func pass() throws {
            for _ in 0..<3 { try fixture.edit("PRAGMA user_version = 5; PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        func change(_ milliseconds: Int) throws {
            let connection = try Connection(path: fixture.path)
            try connection.configure()
            try connection.execute(
                "UPDATE migration SET appliedAt = \(milliseconds) WHERE version = 1; PRAGMA user_version = 5")
        }
        let former = try Data(contentsOf: file)
        try pass()
        try change(77)
        #expect(fixture.walSize > 0)
        #expect(try SQLiteVaultStore.migrations(at: fixture.path).first?.appliedAt == Timestamp(milliseconds: 77))
        try change(78)
        let (present, formerLog) = (try Data(contentsOf: file), try Data(contentsOf: log))
        try former.write(to: file)
        expectRefused()
        try present.write(to: file)
        try pass()
        try formerLog.write(to: log)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: log.path)
        expectRefused()
    }

    /// However commits, copies and restarts of the WAL follow each other.
    @Test func aVaultOfAnOlderVersionIsNotRefusedForItsOwnLog() async throws {
        let fixture = try VaultFixture()
        _ = try await fixture.populateBriefly("alice")
        try fixture.putSchemaBack()
        var generator = SeededGenerator(seed: 20)
        let connections = try (0..<3).map { _ in
            let connection = try Connection(path: fixture.path)
            try connection.configure()
            return connection
        }
        for step in 0..<300 {
            let connection = connections[Int.random(in: 0..<3, using: &generator)]
            switch Int.random(in: 0..<7, using: &generator) {
            case 0, 1: try connection.execute("PRAGMA user_version = 5")
            case 2: try connection.execute("UPDATE migration SET appliedAt = \(step) WHERE version = 1")
            case 3: try connection.execute("CREATE TABLE junk (a); DROP TABLE junk")
            case 4: try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            case 5: try connection.execute("PRAGMA wal_checkpoint(RESTART)")
            default: try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            try WALMark.check(connections[0], VaultFile(fixture.path))
        }
    }

    /// Whoever opens a vault in use looks at its file while others change it.
    @Test func aVaultInUseIsNeverRefused() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        let looker = try Probe(fixture, visits: login, "look")
        let writers = try ["first", "second"].map { try Probe(fixture, user: $0, logins: 2, rounds: 150) }
        for _ in 0..<100 {
            let store = try fixture.open()
            try await store.updateLogin(login) { $0.session.attempts += 1 }
            store.close()
        }
        for writer in writers { #expect(writer.lines().last == "done") }
        #expect(looker.release() == 0)
        try await fixture.expectWhole { try await $0.login(login).session.attempts == 100 }
    }

    /// Each WAL has its own, whoever begins it.
    @Test func theMarkIsReplacedWheneverTheWALBeginsAnew() async throws {
        let fixture = try VaultFixture()
        let store = try fixture.create()
        let login = try await store.insertLogin(fixture.draft("alice")).handle
        let raw = try RawDatabase(fixture.path)
        func mark() throws -> [RawDatabase.Value] {
            try #require(try raw.run("SELECT mark, previous FROM walMark").first)
        }
        var known = try mark()
        var sizes: [Int] = []
        var changes = 0
        for _ in 0..<400 {
            try await store.updateLogin(login) { $0.session.attempts += 1 }
            let now = try mark()
            if now != known {
                #expect(now[1] == known[0])
                changes += 1
            }
            known = now
            sizes.append(fixture.walSize)
        }
        #expect(changes > 2)
        #expect(try #require(sizes.max()) < 2 << 20)
        store.close()
    }

    @Test func aCommitThatChangesNothingLeavesNoTrace() async throws {
        let fixture = try VaultFixture()
        let login = try await fixture.populateBriefly("alice")
        let store = try fixture.open()
        await #expect(throws: CancellationError.self) {
            try await store.updateLogin(login) { _ in throw CancellationError() }
        }
        #expect(fixture.walSize == 0)
        try await store.updateLogin(login) { $0.session.attempts += 1 }
        #expect(fixture.walSize > 0)
        store.close()
    }
}
