import Glibc
import TestSupport

/// A file system of its own with little room, in memory. Only root can mount one.
final class SmallFileSystem: Sendable {
    static var isPossible: Bool { geteuid() == 0 && (try? SmallFileSystem(byteCount: 1 << 16)) != nil }

    private let point: PrivateDirectory
    let path: String

    init(byteCount: Int) throws {
        point = try PrivateDirectory()
        path = point.path
        guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(byteCount),mode=700") == 0 else {
            throw RawDatabase.Refusal(code: errno, message: "cannot mount")
        }
    }

    deinit { unsafe _ = umount2(path, Int32(MNT_DETACH)) }

    /// Takes everything that is free.
    func fill() {
        let descriptor = unsafe open("\(path)/ballast", O_CREAT | O_WRONLY | O_APPEND, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        var written = block.count
        while written == block.count { unsafe written = write(descriptor, block, block.count) }
        close(descriptor)
    }

    func empty() { unsafe _ = unlink("\(path)/ballast") }
}
