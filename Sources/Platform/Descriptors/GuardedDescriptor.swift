import Glibc

/// An open file that is closed with this value, and only if its number still stands for the same file: a host that
/// closes descriptors which it did not open may have opened something else under the number.
package final class GuardedDescriptor: OpenDescriptor {
    package let number: Int32
    package let identity: FileIdentity

    /// Opens a file.
    ///
    /// - Parameter permissions: of a file that is made; the umask takes some away.
    package convenience init(
        _ path: String, for purpose: OpeningPurpose = .readingAndWriting, _ options: OpeningOptions = [],
        permissions: UInt32 = 0o600
    ) throws(SystemError) {
        try self.init(adopting: try options.open(path, for: purpose, permissions))
    }

    /// Opens what has this name in an open directory.
    package convenience init(
        _ name: String, in directory: some OpenDescriptor, for purpose: OpeningPurpose = .readingAndWriting,
        _ options: OpeningOptions = [], permissions: UInt32 = 0o600
    ) throws(SystemError) {
        try self.init(adopting: try options.open(name, in: directory, for: purpose, permissions))
    }

    private init(adopting number: Int32) throws(SystemError) {
        guard let identity = FileIdentity(descriptor: number) else {
            let error = SystemError.last
            _ = close(number)
            throw error
        }
        self.number = number
        self.identity = identity
        ForkGuard.add(number)
    }

    /// The same file, open a second time, with locks of its own. Needs `/proc`.
    package func reopened(for purpose: OpeningPurpose) throws(SystemError) -> GuardedDescriptor {
        try GuardedDescriptor("/proc/self/fd/\(number)", for: purpose)
    }

    deinit {
        // In a fork it is closed already.
        guard !ForkGuard.isForked else { return }
        ForkGuard.remove(number)
        guard isIntact else { return }
        // A child that is about to become another program still has this open file description. Closing ours would
        // leave the locks to it.
        _ = setLock(.unlocked, start: 0, length: 0)
        close(number)
    }

    /// Whether the number still stands for the file that was opened.
    package var isIntact: Bool { FileIdentity(descriptor: number) == identity }
}
