package import Glibc

/// An open file that is closed with this value, but only if its number still refers to the same file. A host that
/// closes descriptors that it did not open may have opened another file under the number.
package final class Descriptor: Sendable {
    package struct Identity: Equatable, Sendable {
        package let device: dev_t
        package let inode: ino_t

        init(_ info: stat) {
            device = info.st_dev
            inode = info.st_ino
        }

        /// Identifies the file at a path without following symbolic links; `nil` if none can be found.
        package init?(path: String) {
            var info = stat()
            guard unsafe lstat(path, &info) == 0 else { return nil }
            self.init(info)
        }

        package init?(descriptor: Int32) {
            var info = stat()
            guard unsafe fstat(descriptor, &info) == 0 else { return nil }
            self.init(info)
        }
    }

    package let number: Int32
    package let identity: Identity

    /// Takes over an open descriptor; `nil` if the number is not an open descriptor.
    package init?(_ number: Int32) {
        guard let identity = Identity(descriptor: number) else { return nil }
        self.number = number
        self.identity = identity
        ForkGuard.add(number)
    }

    deinit {
        // In a fork it is already closed.
        guard !ForkGuard.isForked else { return }
        ForkGuard.remove(number)
        if isIntact { close(number) }
    }

    /// Whether the number still refers to the file that was opened.
    package var isIntact: Bool { Identity(descriptor: number) == identity }

    // MARK: Locks of the open file description

    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    package enum LockMode {
        case exclusive, shared, unlocked

        fileprivate var type: Int16 {
            switch self {
            case .exclusive: Int16(F_WRLCK)
            case .shared: Int16(F_RDLCK)
            case .unlocked: Int16(F_UNLCK)
            }
        }
    }

    /// Locks bytes without waiting. Closing another descriptor of the file does not drop the lock, unlike a plain POSIX
    /// lock.
    /// - Parameter length: 0 means everything from `start` on.
    package func setLock(_ mode: LockMode = .exclusive, start: Int64, length: Int64) -> Bool {
        var lock = Self.region(start, length, mode)
        return unsafe fcntl(number, Self.setLock, &lock) == 0
    }

    /// Whether another open file description holds a lock there; `nil` if the system does not report it.
    package func isLockedElsewhere(start: Int64, length: Int64) -> Bool? {
        var lock = Self.region(start, length, .exclusive)
        guard unsafe fcntl(number, Self.getLock, &lock) == 0 else { return nil }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static func region(_ start: Int64, _ length: Int64, _ mode: LockMode) -> flock {
        flock(l_type: mode.type, l_whence: Int16(SEEK_SET), l_start: off_t(start), l_len: off_t(length), l_pid: 0)
    }
}
