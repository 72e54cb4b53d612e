import Glibc

/// The rule for who may be able to read a file that holds a secret.
///
/// A file of this user must be readable by this user only. A file of root's may be readable by others where root
/// allowed that: no one has write permission and only a group can read it, as in a Kubernetes volume with `fsGroup`, or
/// it is on an in-memory file system that is mounted read-only for this process, as Docker and Kubernetes mount
/// secrets.
struct SecretFileRule {
    let mode: UInt32
    let owner: UInt32
    /// Nil if it is unknown.
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

/// The kernel's description of the mount that a file was opened through.
struct MountView: Equatable {
    let isMemory: Bool
    let isReadOnly: Bool

    /// Parses `/proc/self/mountinfo` (proc(5)).
    /// - Parameter id: The first number of a line.
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
    /// Whether a file is on an in-memory file system; nil if that is unknown.
    package static func isInMemory(_ path: String) -> Bool? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        return MountView(descriptor: descriptor)?.isMemory
    }
}
