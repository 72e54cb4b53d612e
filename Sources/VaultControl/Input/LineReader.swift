import Platform

/// Reads one line byte by byte, so that the next reader gets everything after it.
struct LineReader {
    private static let maximumBytes = 65_536

    let descriptor: BorrowedDescriptor

    init(_ descriptor: BorrowedDescriptor) {
        self.descriptor = descriptor
    }

    /// The bytes up to the line break or the end.
    func line() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: [UInt8] = [0]
        while true {
            guard (try? descriptor.read(into: &byte)) == 1, byte != [UInt8(ascii: "\n")] else { return bytes }
            guard bytes.count < Self.maximumBytes else { throw Failure.usage("the answer is too long") }
            bytes += byte
        }
    }
}
