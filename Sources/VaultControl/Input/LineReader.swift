import Glibc

/// Reads one line byte by byte, so that the next reader gets everything after it.
struct LineReader {
    private static let maximumBytes = 65_536

    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The bytes up to the line break or the end.
    func line() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = unsafe Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { return bytes }
            guard bytes.count < Self.maximumBytes else { throw Failure.usage("the answer is too long") }
            bytes.append(byte)
        }
    }
}
