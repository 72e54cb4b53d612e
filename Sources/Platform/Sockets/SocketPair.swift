import Glibc

/// Two sockets that are connected with each other.
package struct SocketPair: Sendable {
    package let one: Descriptor
    package let other: Descriptor

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last }
        one = Descriptor(adopting: ends[0])
        other = Descriptor(adopting: ends[1])
    }
}

extension OpenDescriptor {
    /// Writes once to a socket, and perhaps only a part. That no one reads it is an error, and no signal.
    package func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let count = unsafe Glibc.send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        guard count >= 0 else { throw .last }
        return count
    }
}
