import CProcess
import Glibc
import Synchronization

/// A socket that listens for connections from programs of this machine.
///
/// Who has connected is answered, also by a server that stops: closing a socket resets the connections that wait in its
/// queue, so the system is told first to add no other, and the queue is emptied then.
package final class ListeningSocket: Sendable {
    private let descriptor: Descriptor
    private let waking: Pipe
    /// nil: another process listens there, too, and gets those who wait.
    private let file: SocketFile?
    private let isStopping = Atomic(false)

    /// A new one.
    ///
    /// - Parameters:
    ///   - path: Where it is reached. Whatever has that name makes way for it at once.
    ///   - permissions: Who may connect: those who may write. It has them before it has its name.
    ///   - group: Whose socket it is; nil: this process's.
    ///   - backlog: How many connections wait until they are accepted, if the system allows so many.
    package init(
        replacing path: String, permissions: UInt32, group: GroupID?, backlog: Int32 = 4_096
    ) throws(SystemError) {
        waking = try Pipe(waits: false)
        (file, descriptor) = try SocketFile.listen(
            replacing: path, permissions: permissions, group: group, backlog: backlog)
    }

    /// One that another process has opened.
    init(adopting number: Int32) throws(SystemError) {
        descriptor = Descriptor(adopting: number)
        waking = try Pipe(waits: false)
        file = nil
        try descriptor.stopWaiting()
    }

    /// Waits for the next connection, which the caller closes; nil: ``stop()`` was called, and everybody has been accepted.
    /// On one thread at a time.
    package func accept() throws(SystemError) -> Int32? {
        while true {
            let isStopping = isStopping.load(ordering: .acquiring)
            if isStopping {
                guard file != nil else { return nil }
                // unix(7) has no word for it; Linux refuses who connects from now on, and keeps those who have.
                guard shutdown(descriptor.number, Int32(SHUT_RD)) == 0 else { throw .last }
            }
            let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let number = accept4(descriptor.number, nil, nil, flags)
            guard number < 0 else { return number }
            switch SystemError.last {
            // The client has gone, or a signal came.
            case .connectionAborted, .interrupted: continue
            case .wouldWait where isStopping: return nil
            case .wouldWait: try wait()
            // The connection stays in the queue until there is room for it.
            case .tooManyOpenFiles, .tooManyOpenFilesOnMachine, .noBufferSpace, .noMemory:
                var pause = DescriptorWait()
                try pause.wait(milliseconds: 100)
            case let error: throw error
            }
        }
    }

    private func wait() throws(SystemError) {
        var wait = DescriptorWait(for: descriptor.number, .readable)
        wait.add(waking.reading.number, .readable)
        try wait.wait(milliseconds: nil)
    }

    /// Removes its file, and ends ``accept()`` once those who have connected are accepted.
    package func stop() {
        removeFile()
        isStopping.store(true, ordering: .releasing)
        _ = try? waking.writing.write([0])
    }

    /// Unless another has taken its place.
    package func removeFile() { file?.remove() }
}

/// Sockets that systemd has opened for this process (sd_listen_fds(3)).
package enum ActivatedSockets {
    private static let first: Int32 = 3

    /// The listening sockets with their names, in systemd's order; empty if it has opened none for this process.
    ///
    /// - Parameter environment: `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    /// - Throws: if one of them is no socket of this machine that listens for connections.
    package static func take(
        _ environment: [String: String]
    ) throws(SystemError) -> [(name: String, socket: ListeningSocket)] {
        guard environment["LISTEN_PID"].flatMap(Int32.init) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap(Int32.init), (1...64).contains(count)
        else { return [] }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [(name: String, socket: ListeningSocket)] = []
        for index in 0..<count {
            let number = first + index
            guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else { throw .last }
            guard value(SO_ACCEPTCONN, of: number) == 1, value(SO_DOMAIN, of: number) == AF_UNIX,
                value(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue)
            else { throw .invalidArgument }
            // sd_listen_fds_with_names(3): "unknown" stands for a missing name.
            let name = names.indices.contains(Int(index)) ? String(names[Int(index)]) : "unknown"
            sockets.append((name, try ListeningSocket(adopting: number)))
        }
        return sockets
    }

    private static func value(_ option: Int32, of socket: Int32) -> Int32? {
        var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 else { return nil }
        return value
    }
}
