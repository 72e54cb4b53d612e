import Glibc

package enum FileLockMode: Sendable {
    case exclusive, shared, unlocked

    fileprivate var type: Int16 {
        switch self {
        case .exclusive: Int16(F_WRLCK)
        case .shared: Int16(F_RDLCK)
        case .unlocked: Int16(F_UNLCK)
        }
    }
}

/// Locks of the open file description.
extension OpenDescriptor {
    /// Locks bytes at once or not at all; closing another descriptor of the file does not drop it, as it would drop a
    /// plain POSIX lock.
    ///
    /// - Parameter length: 0 is everything from `start` on.
    package func lock(_ mode: FileLockMode = .exclusive, start: Int64, length: Int64) throws(SystemError) {
        var lock = region(start, length, mode)
        guard unsafe fcntl(number, FileLockCommand.set, &lock) == 0 else { throw .last }
    }

    /// The same; false if another holds a lock there, or the system refuses.
    package func setLock(_ mode: FileLockMode = .exclusive, start: Int64, length: Int64) -> Bool {
        (try? lock(mode, start: start, length: length)) != nil
    }

    /// Whether another open file description holds a lock there; nil if the system does not say.
    package func isLockedElsewhere(start: Int64, length: Int64) -> Bool? {
        var lock = region(start, length, .exclusive)
        guard unsafe fcntl(number, FileLockCommand.get, &lock) == 0 else { return nil }
        return lock.l_type != Int16(F_UNLCK)
    }

    private func region(_ start: Int64, _ length: Int64, _ mode: FileLockMode) -> flock {
        flock(l_type: mode.type, l_whence: Int16(SEEK_SET), l_start: off_t(start), l_len: off_t(length), l_pid: 0)
    }

    /// Locks the whole file against others that do the same, at once or not at all. Apart from ``setLock(_:start:length:)``.
    package func lockWhole() throws(SystemError) {
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw .last }
    }

    /// The same, as soon as no other holds it.
    package func lockWholeWhenFree() throws(SystemError) {
        while flock(number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .last }
        }
    }
}

/// `F_OFD_GETLK` and `F_OFD_SETLK`, which Swift's view of the C library lacks.
private enum FileLockCommand {
    static let get: Int32 = 36
    static let set: Int32 = 37
}
