import Glibc

/// Something that is open for as long as this value lives.
package final class Descriptor: OpenDescriptor {
    package let number: Int32

    /// Takes over an open descriptor.
    init(adopting number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// - Parameter permissions: of a file that is made; the umask takes some away.
    package init(
        _ path: String, for purpose: OpeningPurpose = .reading, _ options: OpeningOptions = [],
        permissions: UInt32 = 0o600
    ) throws(SystemError) {
        number = try options.open(path, for: purpose, permissions)
    }

    /// Opens what has this name in an open directory.
    package init(
        _ name: String, in directory: some OpenDescriptor, for purpose: OpeningPurpose = .reading,
        _ options: OpeningOptions = [], permissions: UInt32 = 0o600
    ) throws(SystemError) {
        number = try options.open(name, in: directory, for: purpose, permissions)
    }

    /// The same file, open a second time, with locks of its own. Needs `/proc`.
    package func reopened(for purpose: OpeningPurpose) throws(SystemError) -> Descriptor {
        try Descriptor("/proc/self/fd/\(number)", for: purpose)
    }
}
