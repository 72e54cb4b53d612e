import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Files of a vault that are exchanged or taken away while it is open. SQLite would go on writing to what it has.
struct ReplacedFileTests {
    private struct Open {
        let fixture: VaultFixture
        let store: SQLiteVaultStore
        let login: LoginHandle

        init() async throws {
            fixture = try VaultFixture()
            store = try fixture.create()
            login = try await store.insertLogin(fixture.draft("alice")).handle
        }

        func write() async -> StoreError.Code? {
            do {
                try await store.updateLogin(login) { $0.session.attempts += 1 }
                return nil
            } catch {
                return (error as? StoreError)?.code
            }
        }

        func moveAway(_ suffix: String) throws {
            guard unsafe rename(fixture.path + suffix, fixture.path + "-kept") == 0 else { throw POSIXError(.EIO) }
        }

        func putBack(_ suffix: String) throws {
            guard unsafe rename(fixture.path + "-kept", fixture.path + suffix) == 0 else { throw POSIXError(.EIO) }
        }

        func copyBack(_ suffix: String) throws {
            try FileManager.default.copyItem(atPath: fixture.path + "-kept", toPath: fixture.path + suffix)
        }

        func bytes(_ suffix: String) throws -> Data { try Data(contentsOf: URL(filePath: fixture.path + suffix)) }
    }

    @Test func aMissingVaultIsNotWritten() async throws {
        let open = try await Open()
        try open.moveAway("")
        #expect(await open.write() == .vaultMissing)
        // What is open can still be read.
        _ = try await open.store.session(.user("alice"))
        try open.putBack("")
        #expect(await open.write() == nil)
        #expect(try await open.store.login(open.login).session.attempts == 1)
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func aReplacedFileIsNotWritten(suffix: String) async throws {
        let open = try await Open()
        try open.moveAway(suffix)
        try open.copyBack(suffix)
        let (kept, copy) = (try open.bytes("-kept"), try open.bytes(suffix))
        for _ in 0..<3 { #expect(await open.write() == .rollbackSuspected) }
        #expect(try open.bytes(suffix) == copy)
        if suffix != "-shm" { #expect(try open.bytes("-kept") == kept) }
        #expect(unsafe unlink(open.fixture.path + suffix) == 0)
        try open.putBack(suffix)
        #expect(await open.write() == nil)
        #expect(try await open.store.verify().findings == [])
    }

    @Test(arguments: ["-wal", "-shm"])
    func aRemovedFileIsNoticed(suffix: String) async throws {
        let open = try await Open()
        try open.moveAway(suffix)
        #expect(await open.write() == .rollbackSuspected)
        try open.putBack(suffix)
        #expect(await open.write() == nil)
    }

    /// Beside connections that have the old file open, new ones would read the new file.
    @Test func noReaderIsOpenedOnAnotherFile() async throws {
        let open = try await Open()
        try open.moveAway("")
        try open.copyBack("")
        let error = await #expect(throws: StoreError.self) { try await open.store.verify() }
        #expect(error?.code == .rollbackSuspected)
    }

    @Test func aVaultWhoseDirectoryMovesIsNotWritten() async throws {
        let open = try await Open()
        let moved = open.fixture.directory.path + "-moved"
        #expect(unsafe rename(open.fixture.directory.path, moved) == 0)
        #expect(await open.write() == .vaultMissing)
        #expect(throws: StoreError.self) { try open.store.spool.prepare() }
        #expect(!open.store.ownsItsLock)
        #expect(unsafe rename(moved, open.fixture.directory.path) == 0)
        #expect(await open.write() == nil)
        #expect(open.store.ownsItsLock)
    }

    // MARK: Before the first write

    /// A process that has only read so far, or written, others, and somebody who tidies up in between.
    ///
    /// - Parameter closesLast: whether another one has the vault open when the first one closes it.
    @Test(arguments: [false, true], [false, true])
    func aRemovedIndexLosesNoCommit(hasWritten: Bool, closesLast: Bool) async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let first = try fixture.open()
        let login = try await first.session(.user("alice")).login
        if hasWritten { try await first.updateLogin(login) { $0.session.attempts = 1 } }
        #expect(unsafe unlink(fixture.path + "-shm") == 0)

        // Each ends with a checkpoint, after which the next one lets the WAL begin anew.
        for user in ["bob", "carol"] {
            let second = try Probe(fixture, user: user, logins: 1, rounds: 2)
            #expect(second.lines().last == "done")
            #expect(second.wait() == 0)
        }
        let last = closesLast ? try Probe(["claim", fixture.path, fixture.keyFile]) : nil
        if let last { _ = last.lines { $0.contains { $0.hasPrefix("claimed") } } }
        let error = await #expect(throws: StoreError.self) {
            try await first.updateLogin(login) { $0.session.attempts = 2 }
        }
        #expect(error?.code == .rollbackSuspected)
        first.close()
        _ = last?.kill()

        let third = try fixture.open()
        for user in ["bob-0", "carol-0"] {
            await #expect(try third.login(third.session(.user(user)).login).position.generation == 3)
        }
        await #expect(try third.login(login).session.attempts == (hasWritten ? 1 : 0))
        await #expect((try third.login(login).intent != nil) == closesLast)
        #expect(try await third.verify().findings == [])
        third.close()
    }

    /// The WAL that a newcomer finds has nothing of what the index knows: what he wrote to it would be found by nobody.
    @Test func aNewcomerRefusesAnotherWAL() async throws {
        let open = try await Open()
        #expect(await open.write() == nil)
        try open.moveAway("-wal")
        #expect(throws: StoreError.self) { try open.fixture.open() }
        #expect(await open.write() == .rollbackSuspected)
        #expect(unsafe unlink(open.fixture.path + "-wal") == 0 || errno == ENOENT)
        try open.putBack("-wal")
        #expect(await open.write() == nil)
        let other = try open.fixture.open()
        #expect(try await other.login(open.login).session.attempts == 2)
        #expect(try await other.verify().findings == [])
        other.close()
    }

    @Test(arguments: ["-wal", "-shm"])
    func noReaderIsOpenedOnAnotherCompanion(suffix: String) async throws {
        let fixture = try VaultFixture()
        try await fixture.populateBriefly()
        let store = try fixture.open()
        _ = try await store.session(.user("alice"))
        #expect(unsafe rename(fixture.path + suffix, fixture.path + "-kept") == 0)
        let error = #expect(throws: StoreError.self) {
            // The first reader is taken, so that another one is made.
            try store.readers.read { _ throws(StoreError) in
                try store.readers.read { reader throws(StoreError) in _ = try reader.auditHead() }
            }
        }
        #expect(error?.code == .rollbackSuspected)
    }
}
