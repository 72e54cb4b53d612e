import Glibc

/// Who is at the other end of a socket of this machine, by the kernel's word: as it was when the connection was made.
///
/// Its layout is that of `struct ucred`, so a value can be filled by `getsockopt` with ``level`` and ``option``.
package struct PeerCredentials: Hashable, Sendable {
    package var process: Int32 = 0
    package var user: UInt32 = .max
    package var group: UInt32 = .max

    package init() {}

    package init(user: UInt32, group: UInt32, process: Int32 = 0) {
        (self.user, self.group, self.process) = (user, group, process)
    }

    package static let level = SOL_SOCKET
    package static let option = SO_PEERCRED
}
