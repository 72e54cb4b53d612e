import Glibc
import SystemPackage

/// The number of something that is open: a file, a pipe, a socket, a terminal. ``Descriptor`` closes it, and so does
/// ``GuardedDescriptor``; ``BorrowedDescriptor`` belongs to another.
package protocol OpenDescriptor: Sendable {
    var number: Int32 { get }
}

/// A descriptor that another has opened, and closes.
package struct BorrowedDescriptor: OpenDescriptor {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    package static let standardInput = BorrowedDescriptor(STDIN_FILENO)
    package static let standardOutput = BorrowedDescriptor(STDOUT_FILENO)
    package static let standardError = BorrowedDescriptor(STDERR_FILENO)

    /// Whether it is one of the three that every process has.
    package var isStandardStream: Bool { (STDIN_FILENO...STDERR_FILENO).contains(number) }

    /// For one that was handed over to this process, and that nothing else uses.
    package func close() { _ = Glibc.close(number) }
}

extension OpenDescriptor {
    private var system: FileDescriptor { FileDescriptor(rawValue: number) }

    package func status() throws(SystemError) -> FileStatus { try FileStatus(descriptor: number) }

    /// The offset of the end of a file.
    package func endOffset() throws(SystemError) -> Int64 {
        do { return try system.seek(offset: 0, from: .end) } catch { throw SystemError(error) }
    }

    /// Whatever the umask was when it was made.
    package func setPermissions(_ permissions: UInt32) throws(SystemError) {
        guard fchmod(number, mode_t(permissions)) == 0 else { throw .last }
    }

    /// Waits until all of it is on disk.
    package func synchronize() throws(SystemError) {
        guard fsync(number) == 0 else { throw .last }
    }

    /// Waits until its bytes are on disk, and what is needed to find them.
    package func synchronizeData() throws(SystemError) {
        guard fdatasync(number) == 0 else { throw .last }
    }

    /// Takes room for these bytes from the file system.
    package func allocate(_ byteCount: Int, at offset: Int) throws(SystemError) {
        let error = posix_fallocate(number, off_t(offset), off_t(byteCount))
        guard error == 0 else { throw SystemError(error) }
    }

    // MARK: Reading

    /// Reads once; 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        do { return try unsafe system.read(into: buffer) } catch { throw SystemError(error) }
    }

    /// Reads once into memory of the caller's, which stays where it is; 0 at the end.
    ///
    /// - Parameter start: what is before it is left as it is.
    package func read(into bytes: inout [UInt8], from start: Int = 0) throws(SystemError) -> Int {
        do {
            return try unsafe bytes.withUnsafeMutableBytes { bytes in
                try unsafe system.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
            }
        } catch {
            throw SystemError(error)
        }
    }

    /// Reads once, at an offset; 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        do { return try unsafe system.read(fromAbsoluteOffset: offset, into: buffer) } catch {
            throw SystemError(error)
        }
    }

    /// Reads once; empty at the end.
    package func read(atMost count: Int) throws(SystemError) -> [UInt8] {
        do {
            return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, found in
                found = try unsafe system.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        } catch {
            throw SystemError(error)
        }
    }

    /// Reads once, at an offset; empty at the end.
    package func read(atMost count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        do {
            return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, found in
                found = try unsafe system.read(
                    fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(buffer))
            }
        } catch {
            throw SystemError(error)
        }
    }

    // MARK: Writing

    /// Writes once, and perhaps only a part.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        do { return try unsafe system.write(bytes) } catch { throw SystemError(error) }
    }

    /// Writes once, and perhaps only a part.
    package func write(_ bytes: [UInt8]) throws(SystemError) -> Int {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in unsafe try write(bytes) }
    }

    /// Writes once, and perhaps only a part.
    package func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in try unsafe write(bytes) }
    }

    /// Writes once, at an offset, and perhaps only a part.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        do { return try unsafe system.write(toAbsoluteOffset: offset, bytes) } catch { throw SystemError(error) }
    }

    /// Writes once, at an offset, and perhaps only a part.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) -> Int {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in unsafe try write(bytes, at: offset) }
    }

    /// Writes all of it, unless the system refuses a part.
    package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            guard count > 0 else { throw .noSpace }
            offset += count
        }
    }

    package func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in unsafe try writeAll(bytes) }
    }

    /// Writes all of it at an offset, unless the system refuses a part.
    package func writeAll(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            let count = try unsafe write(rest, at: start + Int64(offset))
            guard count > 0 else { throw .noSpace }
            offset += count
        }
    }

    package func writeAll(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
            try unsafe writeAll(bytes, at: offset)
        }
    }
}
