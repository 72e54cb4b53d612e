import CProcess
import Glibc

/// Wakes a thread that also listens to a server.
final class Doorbell: Sendable {
    private let outside: Int32
    private let inside: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return nil }
        (inside, outside) = (ends[0], ends[1])
    }

    deinit {
        _ = close(inside)
        _ = close(outside)
    }

    func ring() {
        var byte: UInt8 = 0
        unsafe _ = write(outside, &byte, 1)
    }

    /// Sleeps until it rings or the server sends something, but no longer than this, whatever happens to the clock.
    func sleep(_ milliseconds: Int32, listeningTo connection: ServerConnection?) {
        var entries = [inside, connection?.socket ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        unsafe _ = poll(&entries, nfds_t(entries.count), milliseconds)
        var bytes = [UInt8](repeating: 0, count: 64)
        unsafe _ = read(inside, &bytes, bytes.count)
    }
}
