import Glibc

/// Who may be able to read a file that holds a secret.
///
/// A file of ours is ours alone. A file of root's may be read by others where root meant that: a mode that no one can
/// write with and only a group can read, as a Kubernetes volume with `fsGroup` has, or a file system in memory that is
/// mounted read-only for this process, as Docker and Kubernetes mount secrets.
struct SecretFileRule {
    let mode: UInt32
    let owner: UInt32
    /// Nil if that cannot be known.
    let mount: MountView?

    func allows(user: UInt32) -> Bool {
        guard owner == user || owner == 0 else { return false }
        if mode & 0o077 == 0 { return true }
        guard owner == 0 else { return false }
        let isForOneGroup = mode & 0o777 & ~0o550 == 0
        let isMountedForUs = mode & 0o022 == 0 && mount?.isMemory == true && mount?.isReadOnly == true
        return isForOneGroup || isMountedForUs
    }
}

/// What the kernel says of the mount that a file was opened through.
struct MountView: Equatable {
    let isMemory: Bool
    let isReadOnly: Bool

    /// From `/proc/self/mountinfo` (proc(5)).
    /// - Parameter id: the first number of a line.
    init?(mountInfo: String, id: Substring) {
        for line in mountInfo.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, fields[0] == id, let dash = fields.firstIndex(of: "-"),
                dash + 3 < fields.count
            else { continue }
            isMemory = ["tmpfs", "ramfs"].contains(fields[dash + 1])
            isReadOnly = [fields[5], fields[dash + 3]].contains { $0.split(separator: ",").contains("ro") }
            return
        }
        return nil
    }

    init?(descriptor: Int32) {
        guard let info = SmallFile.text("/proc/self/fdinfo/\(descriptor)"),
            let line = info.split(separator: "\n").first(where: { $0.hasPrefix("mnt_id:") }),
            let id = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let mounts = SmallFile.text("/proc/self/mountinfo")
        else { return nil }
        self.init(mountInfo: mounts, id: id)
    }
}

package enum MountedFile {
    /// Whether a file lies on a file system in memory; nil if that cannot be known.
    package static func isInMemory(_ path: String) -> Bool? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        return MountView(descriptor: descriptor)?.isMemory
    }
}
