import Glibc

/// Files that processes left behind when they were killed before they could give them a name: `PREFIX….<id>SUFFIX`,
/// with an id of 26 characters. A process that is working on such a file holds a lock on it.
package struct Leftovers {
    let directory: String
    let prefix: String
    let suffix: String
    /// Endings of other files that may be there under the same name.
    let companions: [String]

    package init(in directory: String, of prefix: String, suffix: String, companions: [String] = []) {
        self.directory = directory
        self.prefix = prefix
        self.suffix = suffix
        self.companions = companions
    }

    package func remove() {
        guard let stream = unsafe opendir(directory) else { return }
        defer { unsafe _ = closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), name.hasSuffix(suffix),
                let id = name.dropLast(suffix.count).split(separator: ".").last, Base32.decode(String(id)) != nil
            else { continue }
            removeIfLeft("\(directory)/\(name)")
        }
    }

    private func removeIfLeft(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return }
        defer { _ = close(descriptor) }
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
            flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return }
        for companion in [""] + companions { _ = unsafe unlink(path + companion) }
    }
}
