/// A path that only root and this user can redirect: one rule for every file and program that is trusted.
///
/// Each directory from the root on, and each symbolic link, belongs to root or to this user, and only its owner can
/// write to it. A directory where other users can make their own files but cannot replace ours is allowed (sticky, as
/// `/tmp` is). The path therefore still leads to the checked file later.
package enum TrustedPath {
    /// Why a path is not trusted.
    package enum Flaw: Error, Equatable {
        /// It cannot be inspected, or does not exist.
        case system(SystemError)
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
        package let file: Descriptor
        /// Resolved, without symbolic links.
        package let path: String
        package let status: FileStatus
    }

    private static let mostLinks = 40

    /// Opens the file at the path. The caller checks the owner of the file itself by ``Opened/status``.
    ///
    /// - Parameter flags: The flags of `open`.
    package static func open(
        _ path: String, for purpose: OpeningPurpose, _ options: OpeningOptions = []
    ) throws(Flaw) -> Opened {
        var walk = try Walk(path)
        try walk.go(toParent: false)
        guard let name = walk.last else { throw .system(.isDirectory) }
        return try walk.open(name, for: purpose, options)
    }

    /// Checks the directory that contains a file, or where one may be made.
    package static func checkDirectory(of path: String) throws(Flaw) {
        var walk = try Walk(path)
        try walk.go(toParent: true)
    }

    /// One traversal from the root to a file. Each directory is opened relative to the one before, so that the
    /// traversal is consistent.
    private struct Walk {
        /// The parts that are still to be resolved, the next one last.
        private var rest: [Substring]
        private var directory: Descriptor
        private var names: [Substring] = []
        private var links = 0
        /// The name of the file in the last directory.
        private(set) var last: Substring?

        init(_ path: String) throws(Flaw) {
            guard !path.isEmpty, !path.utf8.contains(0) else { throw .system(.notFound) }
            var whole = path
            if !path.hasPrefix("/") {
                whole = try Self.translating { () throws(SystemError) in try Directory.current() } + "/" + path
            }
            rest = whole.split(separator: "/").reversed()
            // A path that ends with a slash names a directory.
            if path.hasSuffix("/") { rest.insert(".", at: 0) }
            directory = try Self.root()
            try check()
        }

        private static func root() throws(Flaw) -> Descriptor {
            try translating { () throws(SystemError) in try Descriptor("/", for: .locating, .directory) }
        }

        private static func translating<R>(_ body: () throws(SystemError) -> R) throws(Flaw) -> R {
            do throws(SystemError) { return try body() } catch { throw .system(error) }
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
                let status = try Self.translating { () throws(SystemError) in
                    try FileStatus(of: String(name), in: directory)
                }
                if status.kind == .symbolicLink {
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
            directory = try Self.translating { () throws(SystemError) in
                try Descriptor(String(name), in: directory, for: .locating, [.directory, .notThroughLink])
            }
            if name == ".." { _ = names.popLast() } else { names.append(name) }
            try check()
        }

        private mutating func follow(_ name: Substring, _ status: FileStatus) throws(Flaw) {
            guard status.isOursOrRoots else { throw .foreignLink(shown + "/" + name) }
            links += 1
            guard links <= mostLinks else { throw .system(.tooManyLinks) }
            let target = try Self.translating { () throws(SystemError) in
                try directory.target(ofLink: String(name))
            }
            rest += target.split(separator: "/").reversed()
            guard target.hasPrefix("/") else { return }
            directory = try Self.root()
            names = []
        }

        private func check() throws(Flaw) {
            let status = try Self.translating { () throws(SystemError) in try directory.status() }
            guard status.isOursOrRoots else { throw .foreignDirectory(shown) }
            guard status.permissions & 0o022 == 0 || status.isSticky else { throw .sharedDirectory(shown) }
        }

        func open(
            _ name: Substring, for purpose: OpeningPurpose, _ options: OpeningOptions
        ) throws(Flaw) -> Opened {
            let (file, status) = try Self.translating { () throws(SystemError) in
                let file = try Descriptor(
                    String(name), in: directory, for: purpose, options.union(.notThroughLink))
                return (file, try file.status())
            }
            return Opened(file: file, path: (names.isEmpty ? "" : shown) + "/" + name, status: status)
        }
    }
}
