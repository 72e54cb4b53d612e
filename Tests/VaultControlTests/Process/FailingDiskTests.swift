import DevAuthorizationServer
import EngineSupport
import Foundation
import Glibc
import TestSupport
import Testing
import VaultControl

/// A real disk, which the kernel lets turn read-only when it is told of an error of it.
private final class FailingDisk {
    /// Needs root, loop devices and ext4.
    static let isAvailable = (try? FailingDisk()) != nil

    private struct Unavailable: Error {}

    let path = FailingDisk.place("disk")
    private let image = FailingDisk.place("image")
    private var trigger = ""

    init() throws {
        guard geteuid() == 0 else { throw Unavailable() }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard FileManager.default.createFile(atPath: image, contents: nil) else { throw Unavailable() }
        try FileHandle(forWritingTo: URL(filePath: image)).truncate(atOffset: 24 << 20)
        try Self.run("mke2fs", "-q", "-t", "ext4", image)
        try Self.run("mount", "-o", "loop,errors=remount-ro", image, path)
        let mounts = try String(contentsOfFile: "/proc/mounts", encoding: .utf8).split(separator: "\n")
        guard let device = mounts.first(where: { $0.contains(" \(path) ") })?.split(separator: " ").first else {
            throw Unavailable()
        }
        trigger = "/sys/fs/ext4/\(device.split(separator: "/").last ?? "")/trigger_fs_error"
        guard FileManager.default.fileExists(atPath: trigger) else { throw Unavailable() }
    }

    deinit {
        _ = unsafe umount2(path, Int32(MNT_DETACH))
        for path in [path, image] { try? FileManager.default.removeItem(atPath: path) }
    }

    /// As the kernel will spell it.
    private static func place(_ name: String) -> String {
        URL(filePath: NSTemporaryDirectory()).appending(path: "vault-\(name)-\(UUID().uuidString)").path
    }

    /// From here on nothing can be written, also by those who have their files open.
    func fail() throws { try Data("test".utf8).write(to: URL(filePath: trigger)) }

    private static func run(_ program: String, _ arguments: String...) throws {
        let run = try ProgramRun(
            blocking: URL(filePath: "/usr/bin/env"), [program] + arguments,
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        guard run.exitCode == 0 else { throw Unavailable() }
    }
}

/// The disk of the vault turns read-only under a running service.
@Suite(.serialized, .aboutFiles("the vault is on a disk"))
struct FailingDiskTests {
    @Test(.enabled(if: FailingDisk.isAvailable, "needs root, loop devices and ext4"))
    func aDiskThatTurnsReadOnlyEndsTheScheduler() async throws {
        let words = "the file system has turned read-only"
        let disk = try FailingDisk()
        defer { withExtendedLifetime(disk) {} }
        try await World.with({ $0.accessTokenLifetime = .seconds(5) }, vault: disk.path + "/app.vault") { world in
            try await world.logIn("alice")
            let maintainer = try Maintainer(world.harness)
            try await maintainer.hasSaid("renewed ")
            try disk.fail()
            #expect(await maintainer.end() == VaultControl.ExitStatus.machine.rawValue, "\(maintainer.words)")
            let lines = maintainer.words.split(separator: "\n")
            #expect(lines.count { $0.contains(words) } == 1, "\(maintainer.words)")
            #expect(lines.contains { $0.contains("hint: ") && $0.contains("dmesg") }, "\(maintainer.words)")
            // A new process is told the same, and so is a program.
            let before = world.refreshes
            let again = try await world.harness.run("maintain", "--once", "--json")
            #expect(again.status == VaultControl.ExitStatus.machine.rawValue, "\(again.error)")
            #expect((again.output + again.error).contains(words), "\(again.output)\(again.error)")
            #expect((again.output + again.error).contains(#""readOnly""#), "\(again.output)\(again.error)")
            let findings = try await world.harness.run("doctor", "--json").json["findings"] as? [[String: Any]]
            let finding = try #require(findings?.first { ($0["text"] as? String)?.contains(words) == true })
            #expect(finding["level"] as? String == "problem", "\(finding)")
            #expect((finding["hint"] as? String)?.contains("dmesg") == true, "\(finding)")
            // Nothing was sent that could not have been stored, and what is there can be read.
            #expect(world.refreshes == before)
            try await world.ok("login", "list")
        }
    }
}
