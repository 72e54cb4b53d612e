import Glibc
import RawSockets
import Synchronization

/// What a hostile server does next. Bytes go out as they are: no HTTP framework has a say.
enum HostileStep: Sendable {
    case readRequest
    case readHead
    /// `{self}` and `{other}` stand for the ports of this server and of one that nobody may ever call.
    case write([UInt8])
    /// Again and again until the peer has enough, or so many times.
    case flood([UInt8], times: Int)
    /// One byte at a time, with a pause after each.
    case drip([UInt8])
    case halfClose
    case waitForPeer
    case reset

    static func write(_ text: String) -> HostileStep { .write(Array(text.utf8)) }

    /// A well-formed reply with the right length.
    static func reply(_ status: Int, _ body: String = "", _ fields: String...) -> HostileStep {
        reply(status, bytes: Array(body.utf8), fields)
    }

    static func reply(_ status: Int, bytes: [UInt8], _ fields: [String] = []) -> HostileStep {
        .write(Array(head(status, fields + ["Content-Length: \(bytes.count)"]).utf8) + bytes)
    }

    static func head(_ status: Int, _ fields: [String] = ["Content-Type: application/json"]) -> String {
        (["HTTP/1.1 \(status) Whatever"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }
}

/// Plays scripts, one for each connection; the last one answers all that follow.
final class HostileServer: Sendable {
    private let server: RawServer
    private let state: SharedState

    private final class SharedState: Sendable {
        let number = Mutex(0)
        let written = Mutex(0)
    }

    var port: UInt16 { server.port }
    var connections: Int { server.connections }
    var received: [String] { server.received }
    /// Bytes that the peer's kernel took: more than the peer itself read, by what its socket buffers.
    var bytesTaken: Int { state.written.withLock { $0 } }

    /// - Parameter answer: replaces a script, by the number of the connection and the request; nil leaves the script.
    init(
        _ scripts: [[HostileStep]], other: UInt16 = 1,
        answer: @escaping @Sendable (Int, String) -> HostileStep? = { _, _ in nil }
    ) throws {
        let state = SharedState()
        self.state = state
        let port = PortBox()
        server = try RawServer { connection in
            let number = state.number.withLock { number in
                defer { number += 1 }
                return number
            }
            let player = HostilePlayer(
                connection: connection, ports: (port.value, other),
                onWrite: { count in state.written.withLock { $0 += count } })
            if number > 0, number >= scripts.count {
                let request = connection.readRequest()
                if let step = answer(number, request) {
                    player.play([step])
                    return
                }
                player.play(Array((scripts.last ?? []).drop { if case .readRequest = $0 { true } else { false } }))
                return
            }
            player.play(scripts[min(number, scripts.count - 1)])
        }
        port.set(server.port)
    }

    private final class PortBox: Sendable {
        private let port = Mutex<UInt16>(0)
        var value: UInt16 { port.withLock { $0 } }
        func set(_ value: UInt16) { port.withLock { $0 = value } }
    }
}

private struct HostilePlayer {
    let connection: RawConnection
    let ports: (own: UInt16, other: UInt16)
    let onWrite: (Int) -> Void

    func play(_ steps: [HostileStep]) {
        for step in steps where !play(step) { return }
    }

    /// False once the peer is gone.
    private func play(_ step: HostileStep) -> Bool {
        switch step {
        case .readRequest: connection.readRequest()
        case .readHead: connection.readHead()
        case .write(let bytes): return write(bytes.replacing(ports))
        case .flood(let bytes, let times):
            for _ in 0..<times where !write(bytes) { return false }
        case .drip(let bytes):
            for byte in bytes {
                guard write([byte]) else { return false }
                usleep(100_000)
            }
        case .halfClose: shutdown(connection.descriptor, Int32(SHUT_WR))
        case .waitForPeer: connection.waitForPeer()
        case .reset: connection.resetOnClose()
        }
        return true
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        guard connection.write(bytes) else { return false }
        onWrite(bytes.count)
        return true
    }
}

extension [UInt8] {
    fileprivate func replacing(_ ports: (own: UInt16, other: UInt16)) -> [UInt8] {
        guard contains(UInt8(ascii: "{")), count < 4_096, let text = String(validating: self, as: UTF8.self) else {
            return self
        }
        return Array(
            text.replacing("{self}", with: "\(ports.own)").replacing("{other}", with: "\(ports.other)").utf8)
    }
}
