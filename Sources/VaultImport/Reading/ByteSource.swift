import Glibc
import VaultCrypto

/// The source of a stream's bytes. Used by one thread at a time.
protocol ByteSource: AnyObject {
    /// Fills a buffer from an offset on. Returns the number of bytes read: zero only at the end.
    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int
}

/// A file.
final class FileBytes: ByteSource {
    private let descriptor: Int32
    private let size: Int64
    private var count: Int64 = 0

    init(path: String) throws(ImportError) {
        // Avoids waiting for a pipe that has no writer.
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard opened >= 0 else {
            throw ImportError(
                .unreadableFile, "the source \(PathName.shown(path)) cannot be opened: \(SystemError.text(errno))",
                hint: "check its path and its permissions")
        }
        var status = stat()
        guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw ImportError(
                .unreadableFile, "the source is not a file",
                hint: "a source is read more than once: save it in a file first")
        }
        descriptor = opened
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    /// The share of the file that was read.
    var progress: Double { size > 0 ? min(1, Double(count) / Double(size)) : 1 }

    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int {
        while true {
            let size = buffer.count - offset
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress.map { unsafe $0 + offset }, size)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ImportError(.unreadableFile, "the source cannot be read: \(SystemError.text(errno))")
            }
            self.count += Int64(count)
            return count
        }
    }
}

/// Bytes that were already read, followed by the rest.
final class PrefixedBytes: ByteSource {
    private var prefix: ArraySlice<UInt8>
    private let rest: (any ByteSource)?

    init(_ prefix: ArraySlice<UInt8>, _ rest: (any ByteSource)?) {
        self.prefix = prefix
        self.rest = rest
    }

    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int {
        guard !prefix.isEmpty else { return try rest?.read(into: &buffer, from: offset) ?? 0 }
        let piece = prefix.prefix(buffer.count - offset)
        buffer.replaceSubrange(offset..<offset + piece.count, with: piece)
        prefix = prefix.dropFirst(piece.count)
        return piece.count
    }
}
