import Foundation
import Platform
import TestSupport
import Testing

@testable import VaultCrypto

/// Which files with secrets are read: those of ours, and those that a container or a service manager mounts for us.
struct SecretFileTests {
    private let directory: PrivateDirectory

    init() throws { directory = try PrivateDirectory() }

    private static func mount(_ line: String) throws -> MountView {
        try #require(MountView(mountInfo: "1 0 8:1 / / rw - ext4 /dev/sda rw\n\(line)\n", id: "77"))
    }

    private func error(_ path: String) -> VaultCryptoError? {
        do throws(VaultCryptoError) {
            _ = try KeyFile.read(at: path)
            return nil
        } catch {
            return error
        }
    }

    // MARK: The rule

    @Test func whatOthersMayReadIsReadOnlyWhereRootMeantIt() throws {
        let secret = try Self.mount("77 1 0:5 / /run/secrets ro,relatime - tmpfs tmpfs rw,size=8k")
        let disk = try Self.mount("77 1 8:1 / /etc/secrets ro - ext4 /dev/sda ro")
        let scratch = try Self.mount("77 1 0:5 / /dev/shm rw,nosuid - tmpfs tmpfs rw")
        let cases: [(mode: UInt32, owner: UInt32, mount: MountView?, ours: Bool, roots: Bool)] = [
            (0o600, 1000, nil, true, false), (0o400, 0, nil, true, true), (0o600, 0, nil, true, true),
            // Kubernetes with fsGroup, and systemd's credentials with an access control list.
            (0o440, 0, disk, true, true), (0o440, 0, nil, true, true), (0o550, 0, nil, true, true),
            // Docker, and Kubernetes as it comes.
            (0o444, 0, secret, true, true), (0o644, 0, secret, true, true),
            (0o444, 0, disk, false, false), (0o444, 0, scratch, false, false), (0o444, 0, nil, false, false),
            (0o664, 0, secret, false, false), (0o646, 0, secret, false, false), (0o640, 0, nil, false, false),
            // A file of one's own is one's own business.
            (0o440, 1000, secret, false, false), (0o644, 1000, secret, false, false), (0o600, 12, secret, false, false),
        ]
        for (mode, owner, mount, ours, roots) in cases {
            let rule = SecretFileRule(mode: mode, owner: owner, mount: mount)
            #expect(rule.allows(user: 1000) == ours, "\(String(mode, radix: 8)) of \(owner)")
            #expect(rule.allows(user: 0) == roots, "\(String(mode, radix: 8)) of \(owner), read by root")
        }
    }

    @Test func theMountOfAFileIsFoundByItsNumber() throws {
        let facts = try Self.mount("77 1 0:5 / /a\\040b ro,nosuid shared:7 master:1 - ramfs none rw,mode=700")
        #expect(facts.isMemory && facts.isReadOnly)
        #expect(try !Self.mount("77 1 0:5 / /x rw - tmpfs tmpfs rw").isReadOnly)
        #expect(try Self.mount("77 1 0:5 / /x rw - tmpfs tmpfs ro,size=1").isReadOnly)
        #expect(try !Self.mount("77 1 8:1 / /x ro - ext4 /dev/tmpfs rw").isMemory)
        #expect(MountView(mountInfo: "77 1 0:5 / /x ro", id: "77") == nil)
        #expect(MountView(mountInfo: "", id: "77") == nil)
        _ = try KeyFile.create(at: directory.file("a.key"))
        let descriptor = unsafe open(directory.file("a.key"), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(MountView(of: BorrowedDescriptor(descriptor)) != nil)
        #expect(MountView(of: BorrowedDescriptor(-1)) == nil)
    }

    @Test(.enabled(if: geteuid() == 0)) func aFileOfRootsThatOneGroupReadsIsRead() throws {
        let path = directory.file("group.key")
        _ = try KeyFile.create(at: path)
        #expect(unsafe chmod(path, 0o440) == 0)
        #expect(error(path) == nil)
        #expect(unsafe chmod(path, 0o444) == 0)
        #expect(error(path)?.code == .keyFileUnsafe)
    }

    // MARK: Links

    @Test func aVolumeOfKubernetesIsRead() throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: directory.file("..2026_11_22"), withIntermediateDirectories: false)
        _ = try KeyFile.create(at: directory.file("..2026_11_22/vault.key"))
        try manager.createSymbolicLink(atPath: directory.file("..data"), withDestinationPath: "..2026_11_22")
        try manager.createSymbolicLink(atPath: directory.file("vault.key"), withDestinationPath: "..data/vault.key")
        #expect(error(directory.file("vault.key")) == nil)
        // Where it leads to is judged as well.
        #expect(unsafe chmod(directory.file("..2026_11_22"), 0o777) == 0)
        #expect(error(directory.file("vault.key"))?.code == .keyFileUnsafe)
    }

    @Test(.enabled(if: geteuid() == 0)) func aLinkOfAnotherUserIsNotFollowed() throws {
        _ = try KeyFile.create(at: directory.file("a.key"))
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file("a.key"))
        #expect(unsafe lchown(link, 12_345, 12_345) == 0)
        #expect(error(link)?.message.contains("link of another user") == true)
    }

    @Test func aLinkThatLeadsNowhereIsMissing() throws {
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file("none"))
        #expect(error(link)?.code == .keyFileMissing)
    }

    // MARK: Descriptors

    @Test func aDescriptorIsReadToItsEndAndClosed() throws {
        let path = directory.file("a.key")
        let key = try KeyFile.create(at: path)
        let low = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(low) }
        // A number that no other test gets, once it is free.
        let descriptor = fcntl(low, F_DUPFD_CLOEXEC, 5_000)
        let line = try SecretDescriptor(descriptor, title: "key").read()
        #expect(try KeyFileLine.decode(line).id == key.id)
        #expect(fcntl(descriptor, F_GETFD) < 0)
        let again = #expect(throws: VaultCryptoError.self) { try SecretDescriptor(descriptor, title: "key").read() }
        #expect(again?.code == .keySourceFailed)
        // As `<(…)` of a shell names it.
        let other = unsafe open(path, O_RDONLY | O_CLOEXEC)
        #expect(error("/dev/fd/\(other)") == nil)
        for name in ["/dev/fd/x", "/dev/fd/999999", "/proc/self/fd/-1"] { #expect(error(name) != nil, "\(name)") }
    }

    @Test func whatIsTooLongIsNotRead() throws {
        let path = directory.file("long")
        try Data(repeating: 0x61, count: 5_000).write(to: URL(filePath: path))
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        let error = #expect(throws: VaultCryptoError.self) { try SecretDescriptor(descriptor, title: "key").read() }
        #expect(error?.code == .keyFileMalformed)
    }

    @Test func aCredentialIsNamedWithoutAPath() throws {
        #expect(try Credential.path(named: "vault.key", in: "/run/credentials/app") == "/run/credentials/app/vault.key")
        for name in ["", ".", "..", "a/b", "/etc/passwd", "../x", "a\0"] {
            #expect(throws: VaultCryptoError.self) { try Credential.path(named: name, in: "/run/credentials/app") }
        }
        for place in [nil, "", "relative"] {
            #expect(throws: VaultCryptoError.self) { try Credential.path(named: "vault.key", in: place) }
        }
    }
}
