import SystemPackage

extension SystemError {
    private init(_ error: Errno) { self.init(error.rawValue) }

    // MARK: Names

    package static var notFound: SystemError { SystemError(Errno.noSuchFileOrDirectory) }
    package static var exists: SystemError { SystemError(Errno.fileExists) }
    package static var isDirectory: SystemError { SystemError(Errno.isDirectory) }
    package static var notDirectory: SystemError { SystemError(Errno.notDirectory) }
    package static var tooManyLinks: SystemError { SystemError(Errno.tooManySymbolicLinkLevels) }
    package static var nameTooLong: SystemError { SystemError(Errno.fileNameTooLong) }
    /// The file is no program, or a script without an interpreter in its first line.
    package static var notExecutable: SystemError { SystemError(Errno.execFormatError) }
    package static var crossesFileSystems: SystemError { SystemError(Errno.improperLink) }

    // MARK: Permission

    package static var accessDenied: SystemError { SystemError(Errno.permissionDenied) }
    package static var notPermitted: SystemError { SystemError(Errno.notPermitted) }
    package static var readOnlyFileSystem: SystemError { SystemError(Errno.readOnlyFileSystem) }

    // MARK: Limits

    package static var noSpace: SystemError { SystemError(Errno.noSpace) }
    package static var overQuota: SystemError { SystemError(Errno.diskQuotaExceeded) }
    package static var fileTooLarge: SystemError { SystemError(Errno.fileTooLarge) }
    package static var tooManyOpenFiles: SystemError { SystemError(Errno.tooManyOpenFiles) }
    package static var tooManyOpenFilesOnMachine: SystemError { SystemError(Errno.tooManyOpenFilesInSystem) }
    package static var noMemory: SystemError { SystemError(Errno.noMemory) }
    package static var noBufferSpace: SystemError { SystemError(Errno.noBufferSpace) }

    // MARK: Descriptors

    package static var notOpen: SystemError { SystemError(Errno.badFileDescriptor) }
    /// A pipe or a socket that no one reads.
    package static var noReader: SystemError { SystemError(Errno.brokenPipe) }
    package static var wouldWait: SystemError { SystemError(Errno.resourceTemporarilyUnavailable) }
    package static var interrupted: SystemError { SystemError(Errno.interrupted) }
    package static var noDevice: SystemError { SystemError(Errno.noSuchAddressOrDevice) }
    package static var inputOutput: SystemError { SystemError(Errno.ioError) }

    // MARK: Calls

    package static var invalidArgument: SystemError { SystemError(Errno.invalidArgument) }
    package static var notSupported: SystemError { SystemError(Errno.notSupportedOnSocket) }
    package static var notImplemented: SystemError { SystemError(Errno.noFunction) }
    /// A program that is open for writing.
    package static var programBusy: SystemError { SystemError(Errno.textFileBusy) }

    // MARK: Networks

    package static var connectionAborted: SystemError { SystemError(Errno.connectionAbort) }
    package static var connectionRefused: SystemError { SystemError(Errno.connectionRefused) }
    package static var hostUnreachable: SystemError { SystemError(Errno.noRouteToHost) }
    package static var networkUnreachable: SystemError { SystemError(Errno.networkUnreachable) }
}
