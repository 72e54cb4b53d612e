import Glibc
import Synchronization

/// A TCP server without manners: every connection gets a thread and does what the test says, byte for byte.
package final class RawServer: Sendable {
    package let port: UInt16
    private let descriptor: Int32
    private let accepted = Mutex(0)
    private let requests = Mutex<[String]>([])

    /// How many connections arrived.
    package var connections: Int { accepted.withLock { $0 } }
    /// What `RawConnection.readRequest()` has read, over all connections.
    package var received: [String] { requests.withLock { $0 } }

    package init(_ behaviour: @escaping @Sendable (RawConnection) -> Void) throws {
        (descriptor, port) = try Self.listen()
        let descriptor = descriptor
        Self.detachThread { [weak self] in
            // The thread that accepts also closes: a number that was closed elsewhere may by now be another server's.
            defer { Glibc.close(descriptor) }
            while true {
                let peer = Glibc.accept(descriptor, nil, nil)
                guard peer >= 0 else {
                    if [EINTR, ECONNABORTED].contains(errno) { continue }
                    return
                }
                // A program that another test starts must not keep it open.
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                self?.accepted.withLock { $0 += 1 }
                Self.detachThread {
                    let connection = RawConnection(descriptor: peer) { request in
                        self?.requests.withLock { $0.append(request) }
                    }
                    behaviour(connection)
                    connection.close()
                }
            }
        }
    }

    deinit {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// A port on which nobody listens.
    package static func unusedPort() throws -> UInt16 {
        let (descriptor, port) = try listen()
        close(descriptor)
        return port
    }

    private static func listen() throws -> (Int32, UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        var length = size
        let isNamed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard descriptor >= 0, isBound == 0, isNamed == 0, Glibc.listen(descriptor, 64) == 0 else {
            throw RawServerError(errno: errno)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    package static func detachThread(_ body: @escaping @Sendable () -> Void) {
        final class Box {
            let body: @Sendable () -> Void; init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
        unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            context
        )
        pthread_detach(thread)
    }
}

package struct RawServerError: Error {
    package let errno: Int32
}

/// One accepted connection.
package struct RawConnection: Sendable {
    package let descriptor: Int32
    package let onRequest: @Sendable (String) -> Void

    package init(descriptor: Int32, onRequest: @escaping @Sendable (String) -> Void) {
        self.descriptor = descriptor
        self.onRequest = onRequest
    }

    /// Reads a head and as much body as it announces.
    @discardableResult
    package func readRequest() -> String { readRequest(readBytes) }

    /// The same of bytes that were wrapped in something.
    package func readRequest(_ read: () -> [UInt8]?) -> String {
        var text = ""
        while text.range(ofCRLFCRLF: ()) == nil, let more = read() {
            text += String(decoding: more, as: UTF8.self)
        }
        if let end = text.range(ofCRLFCRLF: ()), let length = contentLength(text) {
            while text.utf8.distance(from: end, to: text.utf8.endIndex) < length, let more = read() {
                text += String(decoding: more, as: UTF8.self)
            }
        }
        onRequest(text)
        return text
    }

    /// Reads until the end of a head.
    @discardableResult
    package func readHead() -> String {
        var text = ""
        while text.range(ofCRLFCRLF: ()) == nil, let more = readSome() {
            text += more
        }
        return text
    }

    package func readSome() -> String? {
        readBytes().map { String(decoding: $0, as: UTF8.self) }
    }

    package func readBytes() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    @discardableResult
    package func write(_ text: String) -> Bool {
        write(Array(text.utf8))
    }

    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Makes the close that follows a reset instead of an orderly end.
    package func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Blocks until the peer goes away.
    package func waitForPeer() {
        while readSome() != nil {}
    }

    package func close() {
        Glibc.close(descriptor)
    }

    private func contentLength(_ head: String) -> Int? {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return Int(line.dropFirst("content-length:".count).filter(\.isNumber))
        }
        return nil
    }
}

extension String {
    /// The index after the first empty line.
    fileprivate func range(ofCRLFCRLF: Void) -> String.Index? {
        let pattern = Array("\r\n\r\n".utf8)
        var index = utf8.startIndex
        while index < utf8.endIndex {
            let rest = utf8[index...]
            if rest.starts(with: pattern) {
                return utf8.index(index, offsetBy: pattern.count)
            }
            index = utf8.index(after: index)
        }
        return nil
    }
}
