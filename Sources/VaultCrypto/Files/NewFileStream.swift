import Glibc

/// A ``NewFile`` that is written piece by piece. No file appears without ``finish()``. Used by one thread at a time.
package final class NewFileStream {
    private let path: String
    private let file: NewFile
    private let descriptor: Int32
    /// Nil for a file that has no name yet.
    private let temporary: String?
    private var isNamed = false

    /// Fails with `EEXIST` if the file already exists.
    /// - Parameter namings: All of them, except in tests.
    package init(_ path: String, namings: [NewFile.Naming] = NewFile.Naming.allCases) throws(NewFile.Failure) {
        self.path = path
        file = NewFile(path, namings: namings)
        file.removeLeftovers()
        var existing = stat()
        if unsafe lstat(path, &existing) == 0 { throw NewFile.Failure(error: EEXIST) }
        if namings.contains(.first), let opened = try file.openWithoutName() {
            (descriptor, temporary) = (opened, nil)
        } else {
            (descriptor, temporary) = try file.openUnderOtherName()
        }
        // The umask may have removed permissions of the owner.
        guard fchmod(descriptor, 0o600) == 0 else {
            let error = errno
            discard()
            throw NewFile.Failure(error: error)
        }
    }

    deinit { discard() }

    package func write(_ bytes: [UInt8]) throws(NewFile.Failure) {
        let result = unsafe bytes.withUnsafeBytes { bytes -> NewFile.Failure? in
            do throws(NewFile.Failure) {
                try unsafe NewFile.write(bytes, to: descriptor)
                return nil
            } catch {
                return error
            }
        }
        if let result { throw result }
    }

    /// Gives the file its name once all of it is on disk.
    package func finish() throws(NewFile.Failure) {
        guard fsync(descriptor) == 0 else { throw NewFile.Failure(error: errno) }
        if let temporary {
            try file.name(temporary)
        } else {
            try file.name(descriptor: descriptor)
        }
        isNamed = true
        try file.synchronizeDirectory()
    }

    private func discard() {
        if !isNamed, let temporary { unsafe _ = unlink(temporary) }
        _ = close(descriptor)
    }
}
