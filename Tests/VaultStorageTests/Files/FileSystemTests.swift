import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto

@testable import VaultSQLite
@testable import VaultStorage

/// Where a vault may lie: on what is known to be local, and on what its user trusts and what proves to be good.
@Suite(.serialized)
struct FileSystemTests {
    private func error(_ magic: UInt32, isTrusted: Bool = false) -> StoreError? {
        do throws(StoreError) {
            try FileSystem(magic: magic).check(isTrusted: isTrusted, NSTemporaryDirectory(), isReadOnly: false)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1] as [UInt32])
    func localOnesAreTaken(_ magic: UInt32) {
        #expect(error(magic) == nil)
    }

    @Test(
        arguments: [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x00C3_6400, 0x0BD0_0BD0, 0x4750_4653, 0x0116_1970] as [UInt32])
    func networkedOnesAreRefusedWhateverOneTrusts(_ magic: UInt32) {
        for isTrusted in [false, true] {
            #expect(error(magic, isTrusted: isTrusted)?.code == .unsafeFile)
            #expect(error(magic, isTrusted: isTrusted)?.message.contains("network") == true)
        }
    }

    @Test(arguments: [0x6573_5546, 0x0102_1997, 0x1234_5678] as [UInt32])
    func unknownOnesNeedTrust(_ magic: UInt32) {
        #expect(error(magic)?.code == .unsafeFile)
        #expect(error(magic)?.hint?.contains("--trust-file-system") == true)
        #expect(error(magic, isTrusted: true) == nil)
    }

    @Test func thisOneProvesToBeGood() throws {
        let directory = try PrivateDirectory()
        try FileSystem.prove(directory.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0, "only root owns it")) func aFileSystemWithoutFilesIsRefused() throws {
        let error = #expect(throws: StoreError.self) {
            try SQLiteVaultStore.open(
                at: "/proc/version", unlocker: KeyFileUnlocker(path: "/none"), clock: { SteppingClock.start })
        }
        #expect(error?.code == .unsafeFile)
        #expect(throws: StoreError.self) { try FileSystem.prove("/proc") }
    }

    /// A file system that is in no list, and does all that is wanted.
    @Test(.enabled(if: geteuid() == 0, "only root can mount")) func aTrustedOneIsUsed() async throws {
        let point = try PrivateDirectory()
        try #require(unsafe mount("ramfs", point.path, "ramfs", 0, "mode=700") == 0)
        defer { unsafe _ = umount2(point.path, Int32(MNT_DETACH)) }
        let fixture = try VaultFixture(in: PrivateDirectory(in: point.path))
        let refused = #expect(throws: StoreError.self) { try fixture.create() }
        #expect(refused?.code == .unsafeFile)
        let store = try SQLiteVaultStore.create(
            at: fixture.path, firstSlot: fixture.unlocker, label: "", trustsFileSystem: true, clock: fixture.clock)
        _ = try await store.insertLogin(fixture.draft("alice"))
        store.close()
        #expect(throws: StoreError.self) { try fixture.open() }
        let again = try SQLiteVaultStore.open(
            at: fixture.path, unlocker: fixture.unlocker, trustsFileSystem: true, clock: fixture.clock)
        #expect(try await again.verify().findings == [])
        again.close()
    }
}
