import Foundation
import Glibc
import Synchronization
import TestSupport

/// Stands between a client and the server, and cuts connections after the byte that a test names.
final class CuttingProxy: Sendable {
    enum Direction: CaseIterable, Sendable { case toServer, toClient }

    struct Cut: Sendable {
        let direction: Direction
        /// How many bytes still pass.
        let after: Int
    }

    private struct State {
        var passed: [Direction: Int] = [.toServer: 0, .toClient: 0]
        var cut: Cut?
        var isCut = false
        var refuses = false
        var open: Set<Int32> = []
        /// Connections to the server, by those of the clients.
        var upstreams: [Int32: Int32] = [:]
        /// Connections to the server that stay although their client's half is gone.
        var abandoned: Set<Int32> = []
    }

    private let state = Mutex(State())
    private let listener: Int32
    private let server: String
    private let parent: PrivateDirectory
    /// Where clients find it, as `host=`.
    var directory: String { parent.path }

    /// - Parameter server: the directory of the server's socket.
    init(to server: String) throws {
        self.server = server
        parent = try PrivateDirectory(in: PrivateDirectory.fastParent)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        try unsafe Self.withAddress(parent.file(".s.PGSQL.5432")) { address, size in
            guard unsafe bind(listener, address, size) == 0, listen(listener, 16) == 0 else { throw POSIXError(.EIO) }
        }
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    Glibc.close(client)
                    return
                }
                self.serve(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// How many bytes have passed so far.
    var passed: [Direction: Int] { state.withLock { $0.passed } }

    /// Cuts the connections that are open after so many bytes more. Later ones pass.
    func cut(_ cut: Cut?) {
        state.withLock { state in
            state.cut = cut
            state.isCut = false
        }
    }

    /// Cuts everything, now and from here on.
    func refuse() {
        let open = state.withLock { state in
            state.refuses = true
            return state.open
        }
        for number in open { shutdown(number, Int32(SHUT_RDWR)) }
    }

    /// Lets later connections pass again.
    func admit() { state.withLock { $0.refuses = false } }

    /// Cuts the clients' half of what is open now, and keeps the server's. Later ones pass.
    func abandon() {
        let clients = state.withLock { state in
            state.abandoned.formUnion(state.upstreams.values)
            return Array(state.upstreams.keys)
        }
        for number in clients { shutdown(number, Int32(SHUT_RDWR)) }
    }

    /// Whether the cut was made.
    var hasCut: Bool { state.withLock { $0.isCut } }

    private static func withAddress<R>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> R
    ) throws -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < 108 else { throw POSIXError(.ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return try unsafe withUnsafePointer(to: &address) { pointer in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func serve(_ client: Int32) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isConnected =
            (try? unsafe Self.withAddress("\(server)/.s.PGSQL.5432") { address, size in
                unsafe connect(upstream, address, size) == 0
            }) ?? false
        let isWelcome = state.withLock { state in
            if isConnected, !state.refuses {
                state.open.formUnion([client, upstream])
                state.upstreams[client] = upstream
            }
            return isConnected && !state.refuses
        }
        guard isWelcome else {
            close(client)
            close(upstream)
            return
        }
        let left = Box(2)
        for (from, to, direction) in [
            (client, upstream, Direction.toServer), (upstream, client, Direction.toClient),
        ] {
            Thread.detachNewThread { [self] in
                pump(from, to, direction)
                // Both ends are gone when both directions are: only then may the numbers be given to others.
                if from == upstream || !state.withLock({ $0.abandoned.contains(upstream) }) {
                    shutdown(from, Int32(SHUT_RDWR))
                    shutdown(to, Int32(SHUT_RDWR))
                }
                let isLast = left.value.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast {
                    state.withLock { state in
                        state.open.subtract([client, upstream])
                        state.upstreams[client] = nil
                        state.abandoned.remove(upstream)
                    }
                    close(client)
                    close(upstream)
                }
            }
        }
    }

    private final class Box: Sendable {
        let value: Mutex<Int>
        init(_ value: Int) { self.value = Mutex(value) }
    }

    private func pump(_ from: Int32, _ to: Int32, _ direction: Direction) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            let (allowed, isLast) = state.withLock { state -> (Int, Bool) in
                guard let cut = state.cut, cut.direction == direction, cut.after < count else {
                    state.passed[direction, default: 0] += count
                    if let cut = state.cut, cut.direction == direction {
                        state.cut = Cut(direction: direction, after: cut.after - count)
                    }
                    return (count, false)
                }
                state.cut = nil
                state.isCut = true
                state.passed[direction, default: 0] += cut.after
                return (cut.after, true)
            }
            var sent = 0
            while sent < allowed {
                let written = unsafe buffer.withUnsafeBytes { bytes in
                    unsafe send(
                        to, bytes.baseAddress.map { unsafe $0 + sent }, allowed - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { return }
                sent += written
            }
            if isLast { return }
        }
    }
}
