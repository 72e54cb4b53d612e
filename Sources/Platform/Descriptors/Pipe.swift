import CProcess
import Glibc

/// Two ends of which one reads what the other writes.
package struct Pipe: Sendable {
    package let reading: Descriptor
    package let writing: Descriptor

    /// - Parameter waits: whether reading waits for bytes, and writing for room.
    package init(waits: Bool = true) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | (waits ? 0 : O_NONBLOCK)) == 0 else { throw .last }
        reading = Descriptor(adopting: ends[0])
        writing = Descriptor(adopting: ends[1])
    }
}
