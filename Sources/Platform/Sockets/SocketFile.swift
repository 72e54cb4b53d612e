import Glibc

/// The file of a socket that listens at a path of this machine.
package struct SocketFile: Sendable {
    private let path: String
    private let identity: FileIdentity

    /// The longest path of a socket, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Makes a socket that listens, and gives it its place then: whatever has that name makes way for it at once, so that no
    /// client is refused. The parameters are those of `ListeningSocket`.
    static func listen(
        replacing path: String, permissions: UInt32, group: GroupID?, backlog: Int32
    ) throws(SystemError) -> (file: SocketFile, socket: Descriptor) {
        // As long as the name that it gets, or shorter: then a path that is short enough stays so.
        let temporary = PathName.directory(of: path) + "/." + RandomName.make().prefix(8)
        let socket = try bound(to: temporary)
        var isDone = false
        defer { if !isDone { NamedFile(temporary).discard() } }
        if let group {
            guard unsafe lchown(temporary, uid_t.max, group.number) == 0 else { throw .last }
        }
        try NamedFile(temporary).setPermissions(permissions)
        guard Glibc.listen(socket.number, backlog) == 0 else { throw .last }
        let file = SocketFile(path: path, identity: try FileStatus(at: temporary).identity)
        try NamedFile(temporary).rename(to: path)
        isDone = true
        return (file, socket)
    }

    /// Removes the file, unless another has taken its place.
    package func remove() {
        guard let status = try? FileStatus(at: path), status.identity == identity else { return }
        NamedFile(path).discard()
    }

    /// Whether some process accepts connections there, as far as this one can tell: one that it may not connect to counts.
    package static func isAnswered(at path: String) throws(SystemError) -> Bool {
        let probe = try made()
        let failure = try unsafe withAddress(path) {
            unsafe connect(probe.number, $0, $1) == 0 ? nil : SystemError.last
        }
        return failure != .connectionRefused && failure != .notFound
    }

    private static func made() throws(SystemError) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .last }
        return Descriptor(adopting: number)
    }

    /// For nobody but this user, until it gets its permissions.
    private static func bound(to path: String) throws(SystemError) -> Descriptor {
        let socket = try made()
        guard fchmod(socket.number, 0o600) == 0 else { throw .last }
        if let failure = try unsafe withAddress(
            path, { unsafe bind(socket.number, $0, $1) == 0 ? nil : SystemError.last })
        {
            throw failure
        }
        return socket
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> SystemError?
    ) throws(SystemError) -> SystemError? {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= longestPath, !bytes.contains(0) else { throw .nameTooLong }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, length)
            }
        }
    }
}
