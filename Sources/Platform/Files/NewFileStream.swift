/// A ``NewFile`` that is written piece by piece. Without ``finish()`` there is none. Used by one thread at a time.
package final class NewFileStream {
    private let target: NewFile
    private let file: Descriptor
    /// Nil for a file that has no name so far.
    private let temporary: String?
    private var isNamed = false

    /// Refused with ``SystemError/exists`` if there is such a file already.
    /// - Parameter namings: all but for tests.
    package init(_ path: String, namings: [NewFile.Naming] = NewFile.Naming.allCases) throws(SystemError) {
        target = NewFile(path, namings: namings)
        target.removeLeftovers()
        if FileIdentity(path: path) != nil { throw .exists }
        if namings.contains(.first), let opened = try target.openWithoutName() {
            (file, temporary) = (opened, nil)
        } else {
            (file, temporary) = try target.openUnderOtherName()
        }
        // The umask may have taken bits away from the owner.
        try file.setPermissions(0o600)
    }

    deinit {
        if !isNamed, let temporary { NamedFile(temporary).discard() }
    }

    package func write(_ bytes: [UInt8]) throws(SystemError) { try file.writeAll(bytes) }

    /// Gives the file its name once all of it is on disk.
    package func finish() throws(SystemError) {
        try file.synchronize()
        if let temporary {
            try target.name(temporary)
        } else {
            try target.name(file)
        }
        isNamed = true
        try target.synchronizeDirectory()
    }
}
