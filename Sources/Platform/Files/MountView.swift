/// What the kernel says of the mount that a file was opened through.
package struct MountView: Equatable {
    package let isMemory: Bool
    package let isReadOnly: Bool

    /// From `/proc/self/mountinfo` (proc(5)).
    /// - Parameter id: the first number of a line.
    package init?(mountInfo: String, id: Substring) {
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

    package init?(of file: some OpenDescriptor) {
        guard let info = SmallFile.text("/proc/self/fdinfo/\(file.number)"),
            let line = info.split(separator: "\n").first(where: { $0.hasPrefix("mnt_id:") }),
            let id = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let mounts = SmallFile.text("/proc/self/mountinfo")
        else { return nil }
        self.init(mountInfo: mounts, id: id)
    }

    /// Nil if it cannot be opened, or that cannot be known.
    package init?(ofFileAt path: String) {
        guard let file = try? Descriptor(path, for: .reading, [.withoutWaiting, .notOurTerminal]) else { return nil }
        self.init(of: file)
    }
}
