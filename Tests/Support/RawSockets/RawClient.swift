import Glibc

/// A TCP connection to this machine, as far as tests need one.
package enum RawClient {
    /// Connects and closes again.
    package static func connect(to port: UInt16) throws {
        close(try open(port))
    }

    /// The descriptor of a connection.
    package static func open(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            defer { close(descriptor) }
            throw RawServerError(errno: errno)
        }
        return descriptor
    }
}
