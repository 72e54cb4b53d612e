import Platform

/// The source of a stream's bytes. Used by one thread at a time.
protocol ByteSource: AnyObject {
    /// Fills a buffer from an offset on. Returns the number of bytes read: zero only at the end.
    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int
}

/// A file.
final class FileBytes: ByteSource {
    private let file: Descriptor
    private let size: Int64
    private var count: Int64 = 0

    init(path: String) throws(ImportError) {
        do throws(SystemError) {
            // Avoids waiting for a pipe that has no writer.
            file = try Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting])
        } catch {
            throw ImportError(
                .unreadableFile, "the source \(PathName.shown(path)) cannot be opened: \(error.text)",
                hint: "check its path and its permissions")
        }
        guard let status = try? file.status(), status.kind == .regular else {
            throw ImportError(
                .unreadableFile, "the source is not a file",
                hint: "a source is read more than once: save it in a file first")
        }
        size = status.size
    }

    /// The share of the file that was read.
    var progress: Double { size > 0 ? min(1, Double(count) / Double(size)) : 1 }

    func read(into buffer: inout [UInt8], from offset: Int) throws(ImportError) -> Int {
        do throws(SystemError) {
            let count = try file.read(into: &buffer, from: offset)
            self.count += Int64(count)
            return count
        } catch {
            throw ImportError(.unreadableFile, "the source cannot be read: \(error.text)")
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
