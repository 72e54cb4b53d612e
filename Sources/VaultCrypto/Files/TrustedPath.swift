package import Glibc

/// A path that only root and this user can redirect: one rule for every file and program that is trusted.
///
/// Each directory from the root on, and each symbolic link, belongs to root or to this user, and only its owner can
/// write to it. A directory where other users can make their own files but cannot replace ours is allowed (sticky, as
/// `/tmp` is). The path therefore still leads to the checked file later.
package enum TrustedPath {
    /// Why a path is not trusted.
    package enum Flaw: Error, Equatable {
        /// It cannot be inspected, or does not exist.
        case system(Int32)
        /// A directory of another user, who can replace its contents.
        case foreignDirectory(String)
        /// A link of another user.
        case foreignLink(String)
        /// A directory that others can write to.
        case sharedDirectory(String)

        /// The end of a sentence whose subject is the file; nil for an error of the system.
        package var reason: String? {
            switch self {
            case .system: nil
            case .foreignDirectory(let path): "is in a directory of another user: \(PathName.shown(path))"
            case .foreignLink(let path):
                "is reached by a symbolic link of another user: \(PathName.shown(path))"
            case .sharedDirectory(let path):
                "is in a directory that other users can write to: \(PathName.shown(path))"
            }
        }

        package var hint: String? {
            switch self {
            case .system: nil
            case .foreignDirectory, .foreignLink: "move it to a directory that belongs to you or to root"
            case .sharedDirectory(let path): "run: chmod go-w \(PathName.shown(path))"
            }
        }
    }

    /// An open file and its location. The caller closes the descriptor.
    package struct Opened {
        package let descriptor: Int32
        /// Resolved, without symbolic links.
        package let path: String
        package let status: stat
    }

    private static let mostLinks = 40
    /// `O_PATH`, which Swift's view of the C library lacks: also opens files that may not be read.
    package static let withoutReading: Int32 = 0o10_000_000

    /// Opens the file at the path. The caller checks the owner of the file itself by ``Opened/status``.
    ///
    /// - Parameter flags: The flags of `open`.
    package static func open(_ path: String, _ flags: Int32) throws(Flaw) -> Opened {
        var walk = try Walk(path)
        defer { walk.end() }
        try walk.go(toParent: false)
        guard let name = walk.last else { throw .system(EISDIR) }
        return try walk.open(name, flags)
    }

    /// Checks the directory that contains a file, or where one may be made.
    package static func checkDirectory(of path: String) throws(Flaw) {
        var walk = try Walk(path)
        defer { walk.end() }
        try walk.go(toParent: true)
    }

    /// One traversal from the root to a file. Each directory is opened relative to the one before, so that the
    /// traversal is consistent.
    private struct Walk {
        /// The parts that are still to be resolved, the next one last.
        private var rest: [Substring]
        private var directory: Int32
        private var names: [Substring] = []
        private var links = 0
        /// The name of the file in the last directory.
        private(set) var last: Substring?

        init(_ path: String) throws(Flaw) {
            guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(ENOENT) }
            var whole = path
            if !path.hasPrefix("/") {
                guard let current = unsafe getcwd(nil, 0) else { throw .system(errno) }
                defer { unsafe free(current) }
                whole = unsafe String(cString: current) + "/" + path
            }
            rest = whole.split(separator: "/").reversed()
            // A path that ends with a slash names a directory.
            if path.hasSuffix("/") { rest.insert(".", at: 0) }
            directory = unsafe Glibc.open("/", TrustedPath.withoutReading | O_DIRECTORY | O_CLOEXEC)
            guard directory >= 0 else { throw .system(errno) }
            try check()
        }

        mutating func end() {
            if directory >= 0 { _ = Glibc.close(directory) }
            directory = -1
        }

        private var shown: String { "/" + names.joined(separator: "/") }

        /// - Parameter toParent: Whether the last part may be missing; a link there is not followed.
        mutating func go(toParent: Bool) throws(Flaw) {
            while let name = rest.popLast() {
                if name == "." { continue }
                if rest.isEmpty, toParent {
                    last = name
                    return
                }
                var status = stat()
                guard unsafe fstatat(directory, String(name), &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                    throw .system(errno)
                }
                if status.st_mode & S_IFMT == S_IFLNK {
                    try follow(name, status)
                } else if rest.isEmpty {
                    last = name
                    return
                } else {
                    try enter(name)
                }
            }
        }

        private mutating func enter(_ name: Substring) throws(Flaw) {
            let next = unsafe openat(
                directory, String(name), TrustedPath.withoutReading | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw .system(errno) }
            _ = Glibc.close(directory)
            directory = next
            if name == ".." { _ = names.popLast() } else { names.append(name) }
            try check()
        }

        private mutating func follow(_ name: Substring, _ status: stat) throws(Flaw) {
            guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreignLink(shown + "/" + name) }
            links += 1
            guard links <= mostLinks else { throw .system(ELOOP) }
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let size = bytes.count
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                guard let start = buffer.baseAddress else { return -1 }
                return unsafe readlinkat(directory, String(name), start, size)
            }
            guard count > 0, count < size else { throw .system(count < 0 ? errno : ENAMETOOLONG) }
            let target = String(decoding: bytes[..<count], as: UTF8.self)
            rest += target.split(separator: "/").reversed()
            guard target.hasPrefix("/") else { return }
            let root = unsafe Glibc.open("/", TrustedPath.withoutReading | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw .system(errno) }
            _ = Glibc.close(directory)
            directory = root
            names = []
        }

        private func check() throws(Flaw) {
            var status = stat()
            guard unsafe fstat(directory, &status) == 0 else { throw .system(errno) }
            guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreignDirectory(shown) }
            guard status.st_mode & 0o022 == 0 || status.st_mode & mode_t(S_ISVTX) != 0 else {
                throw .sharedDirectory(shown)
            }
        }

        func open(_ name: Substring, _ flags: Int32) throws(Flaw) -> Opened {
            let descriptor = unsafe openat(directory, String(name), flags | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw .system(errno) }
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else {
                let error = errno
                _ = Glibc.close(descriptor)
                throw .system(error)
            }
            return Opened(descriptor: descriptor, path: (names.isEmpty ? "" : shown) + "/" + name, status: status)
        }
    }
}
