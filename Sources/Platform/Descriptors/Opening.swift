import Glibc
import SystemPackage

/// What something is opened for.
package enum OpeningPurpose: Sendable {
    case reading, writing, readingAndWriting
    /// To look at it, or to reach what is in it: nothing can be read through it, and it need not be readable.
    case locating

    fileprivate var mode: FileDescriptor.AccessMode {
        switch self {
        case .reading, .locating: .readOnly
        case .writing: .writeOnly
        case .readingAndWriting: .readWrite
        }
    }
}

/// How something is opened. No program that is started later inherits it.
package struct OpeningOptions: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Made if it is not there.
    package static let create = OpeningOptions(rawValue: O_CREAT)
    /// Made; refused with ``SystemError/exists`` if it is there.
    package static let createNew = OpeningOptions(rawValue: O_CREAT | O_EXCL)
    package static let emptied = OpeningOptions(rawValue: O_TRUNC)
    /// Each write goes to the end, wherever other processes have moved it.
    package static let appending = OpeningOptions(rawValue: O_APPEND)
    /// Refused with ``SystemError/tooManyLinks`` if it is a symbolic link.
    package static let notThroughLink = OpeningOptions(rawValue: O_NOFOLLOW)
    /// Refused with ``SystemError/notDirectory`` if it is none.
    package static let directory = OpeningOptions(rawValue: O_DIRECTORY)
    /// Opening a pipe does not wait for its other end, and reading does not wait for bytes.
    package static let withoutWaiting = OpeningOptions(rawValue: O_NONBLOCK)
    /// A terminal does not become this process's.
    package static let notOurTerminal = OpeningOptions(rawValue: O_NOCTTY)
    /// What was written is on disk when the write returns.
    package static let durableWrites = OpeningOptions(rawValue: O_DSYNC)
    /// A new file in a directory, which has no name until it gets one. Refused where the file system has no such files.
    package static let nameless = OpeningOptions(rawValue: 0o20000000 | O_DIRECTORY)

    /// Of the system: `O_PATH`, which Swift's view of the C library lacks.
    private static let locating: Int32 = 0o10_000_000

    private func flags(for purpose: OpeningPurpose) -> Int32 {
        rawValue | O_CLOEXEC | (purpose == .locating ? Self.locating : 0)
    }

    /// - Parameter permissions: of a file that is made; the umask takes some away.
    func open(_ path: String, for purpose: OpeningPurpose, _ permissions: UInt32) throws(SystemError) -> Int32 {
        do {
            return try unsafe FileDescriptor.open(
                path, purpose.mode, options: FileDescriptor.OpenOptions(rawValue: flags(for: purpose)),
                permissions: FilePermissions(rawValue: permissions), retryOnInterrupt: false
            ).rawValue
        } catch {
            throw SystemError(error)
        }
    }

    /// What has this name in an open directory.
    func open(
        _ name: String, in directory: some OpenDescriptor, for purpose: OpeningPurpose, _ permissions: UInt32
    ) throws(SystemError) -> Int32 {
        let number = unsafe openat(
            directory.number, name, flags(for: purpose) | purpose.mode.rawValue, mode_t(permissions))
        guard number >= 0 else { throw .last }
        return number
    }
}
