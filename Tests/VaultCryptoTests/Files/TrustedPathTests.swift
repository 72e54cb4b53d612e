import Foundation
import Platform
import TestSupport
import Testing

@testable import VaultCrypto

/// The way to a file, directory by directory, and who else can change it.
struct TrustedPathTests {
    private static let stranger: uid_t = 65_534
    private let directory: PrivateDirectory

    init() throws { directory = try PrivateDirectory() }

    private func make(_ way: String...) throws -> String {
        let path = ([directory.path] + way).joined(separator: "/")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }

    private func file(in folder: String, _ name: String = "file") throws -> String {
        let path = folder + "/" + name
        try Data("#!/bin/sh\necho good\n".utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o700) == 0)
        return path
    }

    private func flaw(_ path: String) -> TrustedPath.Flaw? {
        do throws(TrustedPath.Flaw) {
            _ = try TrustedPath.open(path, for: .locating)
            return nil
        } catch { return error }
    }

    @Test func aWayOfOurOwnIsTrusted() throws {
        let path = try file(in: make("a", "b"))
        #expect(flaw(path) == nil)
        for other in ["\(directory.path)/a/../a/./b//file", "/proc/self/root\(path)"] { #expect(flaw(other) == nil) }
        let opened = try TrustedPath.open("\(directory.path)/a/../a/b/file", for: .reading)
        #expect(opened.path == path)
        #expect(flaw("/usr/bin/env") == nil && flaw("/bin/sh") == nil)
    }

    /// Each directory from the root on, not only the last one.
    @Test(arguments: [0o720, 0o702, 0o777, 0o2770, 0o775], [0, 1, 2])
    func aDirectoryThatOthersWriteToIsRefused(mode: Int, above: Int) throws {
        let path = try file(in: make("a", "b", "c"))
        let shared = (["a", "b", "c"].prefix(3 - above)).reduce(directory.path) { $0 + "/" + $1 }
        #expect(unsafe chmod(shared, mode_t(mode)) == 0)
        #expect(flaw(path) == .sharedDirectory(shared))
        #expect(throws: TrustedPath.Flaw.self) { try TrustedPath.checkDirectory(of: path + ".new") }
        // In such a directory others make files of their own, and cannot replace ours.
        #expect(unsafe chmod(shared, mode_t(mode | 0o1000)) == 0)
        #expect(flaw(path) == nil)
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [0, 1, 2]) func aForeignDirectoryIsRefused(above: Int) throws {
        let path = try file(in: make("a", "b", "c"))
        let foreign = (["a", "b", "c"].prefix(3 - above)).reduce(directory.path) { $0 + "/" + $1 }
        #expect(unsafe chown(foreign, Self.stranger, Self.stranger) == 0)
        #expect(flaw(path) == .foreignDirectory(foreign))
    }

    @Test func linksAreFollowedAndTheirWaysChecked() throws {
        let path = try file(in: make("a", "b"))
        let link = directory.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a/b")
        #expect(flaw(link + "/file") == nil)
        #expect(unsafe chmod(directory.file("a"), 0o770) == 0)
        #expect(flaw(link + "/file") == .sharedDirectory(directory.file("a")))
        try FileManager.default.createSymbolicLink(atPath: directory.file("loop"), withDestinationPath: "loop")
        #expect(flaw(directory.file("loop")) == .system(.tooManyLinks))
        #expect(unsafe chmod(directory.file("a"), 0o700) == 0)
        guard geteuid() == 0 else { return }
        #expect(unsafe lchown(link, Self.stranger, Self.stranger) == 0)
        #expect(flaw(link + "/file") == .foreignLink(link))
        #expect(flaw(path) == nil)
    }

    @Test func whatIsNotThereIsToldAsSuch() throws {
        #expect(flaw(directory.file("none/file")) == .system(.notFound))
        #expect(flaw(try file(in: directory.path) + "/file") == .system(.notDirectory))
        #expect(flaw("") == .system(.notFound))
    }

    /// Programs, which is where it matters most.
    @Test func aProgramBelowASharedDirectoryIsNotRun() throws {
        let path = try file(in: make("a", "b"))
        #expect(unsafe chmod(directory.file("a"), 0o770) == 0)
        let error = #expect(throws: VaultCryptoError.self) { try OperatorProgram.keyLine([path]) }
        #expect(error?.message.contains("other users can write to: \(directory.file("a"))") == true)
        #expect(error?.hint == "run: chmod go-w \(directory.file("a"))")
    }

    /// Another user exchanges root's program for their own, as fast as the kernel does it, while it is run. Without a rule
    /// for the directory they win within a few tries.
    @Test(.enabled(if: geteuid() == 0 && isExecutable("/usr/bin/perl") && isExecutable("/usr/bin/setpriv")))
    func whoExchangesTheProgramLoses() throws {
        let (folder, marker) = (try make("theirs"), try file(in: directory.path, "won"))
        let (good, bad) = (try file(in: folder, "good"), try file(in: folder, "bad"))
        try Data("#!/bin/sh\necho won >> \(marker)\n".utf8).write(to: URL(filePath: bad))
        for path in [folder, bad, marker] {
            #expect(unsafe chown(path, Self.stranger, Self.stranger) == 0 && chmod(path, 0o755) == 0)
        }
        #expect(unsafe chmod(good, 0o755) == 0 && chmod(directory.path, 0o755) == 0)
        let before = try FileBytes.read(marker)
        let racer = Process()
        racer.executableURL = URL(filePath: "/usr/bin/setpriv")
        // renameat2(AT_FDCWD, good, AT_FDCWD, bad, RENAME_EXCHANGE)
        racer.arguments = [
            "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/perl", "-e",
            "while (1) { syscall(\(Self.renameat2), -100, $ARGV[0], -100, $ARGV[1], 2) }", good, bad,
        ]
        try racer.run()
        // A test's process may have blocked the signal of terminate().
        defer { kill(racer.processIdentifier, SIGKILL) }
        for _ in 0..<Depth.pick(brief: 2_000, nightly: 10_000, deep: 10_000) {
            #expect(throws: VaultCryptoError.self) { try OperatorProgram.keyLine([good]) }
        }
        #expect(racer.isRunning)
        #expect(try FileBytes.read(marker) == before)
    }

    #if arch(x86_64)
        private static let renameat2 = 316
    #else
        private static let renameat2 = 276
    #endif
}

private func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
