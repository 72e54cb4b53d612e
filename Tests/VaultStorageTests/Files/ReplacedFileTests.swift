import Foundation
import Glibc
import Testing
import VaultCrypto

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
        _ = try open.store.session(.user("alice"))
        try open.putBack("")
        #expect(await open.write() == nil)
        #expect(try open.store.login(open.login).session.attempts == 1)
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
        #expect(try open.store.verify { _ in }.findings == [])
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
        let error = #expect(throws: StoreError.self) { try open.store.verify { _ in } }
        #expect(error?.code == .rollbackSuspected)
    }

    @Test func aVaultWhoseDirectoryMovesIsNotWritten() async throws {
        let open = try await Open()
        let moved = open.fixture.directory + "-moved"
        #expect(unsafe rename(open.fixture.directory, moved) == 0)
        #expect(await open.write() == .vaultMissing)
        #expect(throws: StoreError.self) { try open.store.prepareSpool() }
        #expect(!open.store.ownsItsLock)
        #expect(unsafe rename(moved, open.fixture.directory) == 0)
        #expect(await open.write() == nil)
        #expect(open.store.ownsItsLock)
    }
}
