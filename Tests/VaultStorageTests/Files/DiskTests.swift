import Foundation
import Glibc
import TestSupport
import Testing
import VaultCrypto
import VaultSQLite
import VaultStorage

/// File systems of their own, which only root can mount.
@Suite(.serialized, .enabled(if: geteuid() == 0, "only root can mount a tmpfs"))
struct DiskTests {
    private final class Mounted {
        let path = NSTemporaryDirectory() + "/vault-disk-" + UUID().uuidString

        init(_ options: String) throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard unsafe mount("tmpfs", path, "tmpfs", 0, options) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }

        deinit {
            _ = unsafe umount2(path, Int32(MNT_DETACH))
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func aFullDiskLosesNothingAndIsLeftWhenSpaceReturns() async throws {
        let disk = try Mounted("size=1m,mode=700")
        do {
            let fixture = try VaultFixture(in: PrivateDirectory(in: disk.path))
            let store = try fixture.create()
            let login = try await store.insertLogin(fixture.draft("alice"))
            let ballast = disk.path + "/ballast"
            try Data(count: 400_000).write(to: URL(fileURLWithPath: ballast))
            var stored = 0
            var failure: StoreError?
            for number in 0..<2000 {
                do {
                    _ = try await store.insertLogin(fixture.draft("user-\(number)"))
                    stored += 1
                } catch let error as StoreError {
                    failure = error
                    break
                }
            }
            #expect(failure?.code == .full)
            #expect(try await store.session(.user("alice")).session == login.session)
            for number in 0..<stored { _ = try await store.session(.user("user-\(number)")) }
            try FileManager.default.removeItem(atPath: ballast)
            _ = try await store.insertLogin(fixture.draft("bob"))
            #expect(try await store.verify().findings == [])
            print("disk full: after \(stored) inserts; recovered")
            store.close()
        }
    }
}
