import Foundation
import Synchronization

/// A real PostgreSQL server for the tests of one process. It listens on a UNIX socket in a directory of its own, and ends
/// with the process, however that ends.
package final class PostgreSQLServer: Sendable {
    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String
    }

    private static let started = Mutex<PostgreSQLServer?>(nil)
    private static let schemas = Atomic<Int>(0)

    /// The server that all tests of this process share, each with schemas of its own.
    package static func shared() throws -> PostgreSQLServer {
        try started.withLock { server in
            if let server { return server }
            let made = try PostgreSQLServer()
            server = made
            return made
        }
    }

    /// Holds its socket, its data and its log.
    package let directory: String
    private let port: UInt16?
    private let input: Int32
    private let output: FileHandle

    /// Starts a server. It ends when this object goes.
    ///
    /// - Parameters:
    ///   - primary: of which it is to be a standby.
    ///   - port: where it listens on 127.0.0.1, too; nil: on its socket alone.
    package init(standbyOf primary: PostgreSQLServer? = nil, port: UInt16? = nil) throws {
        self.port = port
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "throwaway-postgresql").path
        var pipe: [Int32] = [0, 0]
        // Not inherited by other children: the server ends when the last writer is gone.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pipe) == 0 else { throw Unavailable(description: "no sockets") }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            [script, PrivateDirectory.fastParent] + (primary.map { [$0.directory] } ?? [""])
            + (port.map { ["\($0)"] } ?? [])
        process.standardInput = FileHandle(fileDescriptor: pipe[0], closeOnDealloc: true)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = try Self.readLine(output.fileHandleForReading)
        guard !line.isEmpty else {
            close(pipe[1])
            throw Unavailable(description: "PostgreSQL did not start: run scripts/bootstrap test")
        }
        directory = line
        self.output = output.fileHandleForReading
        input = pipe[1]
    }

    deinit { close(input) }

    /// Ends the server as a crash does.
    package func stop() throws { try order("stop") }
    package func start() throws { try order("start") }

    /// Of a standby: receives nothing more.
    package func detach() throws { try order("detach") }
    /// Of a standby: takes the primary's place.
    package func promote() throws { try order("promote") }

    /// Takes a base backup, which ``putBack()`` starts in the server's place: without a word, in the same history.
    package func snapshot() throws { try order("snapshot") }
    package func putBack() throws { try order("put-back") }

    /// Starts a pooler that gives each transaction a session that is free.
    package func addPooler() throws { try order("pooler") }

    package func restart() throws {
        try stop()
        try start()
    }

    /// Tells the server's keeper what to do, and waits for it.
    private func order(_ word: String) throws {
        let line = Array((word + "\n").utf8)
        guard unsafe write(input, line, line.count) == line.count, try Self.readLine(output) == "done" else {
            throw Unavailable(description: "the server did not \(word)")
        }
    }

    private static func readLine(_ file: FileHandle) throws -> String {
        var line: [UInt8] = []
        while let byte = try file.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// A schema that no other test has.
    package static func newSchema() -> String {
        "t\(getpid())_\(schemas.add(1, ordering: .relaxed).newValue)"
    }

    /// A connection string for a database of the server, or of the standby that has taken its place.
    package func address(schema: String, or standby: PostgreSQLServer? = nil) -> String {
        let hosts = [directory, standby?.directory].compactMap(\.self).joined(separator: ",")
        return "postgresql://vault@/postgres?host=\(hosts)&schema=\(schema)" + (port.map { "&port=\($0)" } ?? "")
    }

    /// The same by way of the pooler.
    package func poolerAddress(schema: String) -> String {
        "postgresql://vault@/postgres?host=\(directory)/pooler&schema=\(schema)"
    }
}
