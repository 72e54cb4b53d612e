import Glibc

/// A socket of this machine that takes datagrams, by its path.
package struct DatagramAddress: Sendable {
    private let path: [UInt8]

    /// - Parameter path: begins with `@` for one in the abstract name space. Nil if no socket can have it.
    package init?(_ text: String) {
        var path = Array(text.utf8)
        // An address in the abstract name space begins with a zero, which no variable can hold.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard let first = path.first, first == 0 || first == UInt8(ascii: "/"),
            path.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
    }

    /// Sends it as a whole; false if that fails.
    ///
    /// - Parameter timeLimit: seconds to wait where the receiver's queue is full.
    package func send(_ message: [UInt8], timeLimit: Int) -> Bool {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        var limit = timeval(tv_sec: timeLimit, tv_usec: 0)
        unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(number, message, message.count, Int32(MSG_NOSIGNAL), address, length)
            }
        } == message.count
    }
}
