import Foundation
import Synchronization

/// Carries bytes between this process and a server, and knows how far they have come: where a transport itself cannot be
/// looked into.
final class Relay: Sendable {
    let port: Int
    private let listener: Int32
    private let server: UInt16
    private let striker: Striker

    struct Failure: Error {}

    init(to server: Int, _ striker: Striker) throws {
        self.server = UInt16(server)
        self.striker = striker
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        listener = socket
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, length) == 0 && listen(socket, 16) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { self.accept() }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let number = striker.beginRequest()
            Thread.detachNewThread {
                self.carry(client, number)
                close(client)
            }
        }
    }

    private func carry(_ client: Int32, _ number: Int) {
        striker.reach(.connected, of: number)
        var request = Message(from: client) {}
        // The server checks proofs against the name that it is called by.
        request.replaceHead(":\(port)\r\n", ":\(server)\r\n")
        guard !request.bytes.isEmpty else { return }
        striker.reach(.requestRead, of: number)
        let upstream = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(upstream) }
        var address = Self.loopback(server)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        send(request.bytes[..<(request.bytes.count / 2)], to: upstream)
        striker.reach(.requestHalf, of: number)
        send(request.bytes[(request.bytes.count / 2)...], to: upstream)
        striker.reach(.requestSent, of: number)
        let reply = Message(from: upstream) { self.striker.reach(.replyBegun, of: number) }
        guard !reply.bytes.isEmpty else { return }
        striker.reach(.replyRead, of: number)
        send(reply.bytes[..<reply.headLength], to: client)
        striker.reach(.replyHead, of: number)
        let middle = (reply.headLength + reply.bytes.count) / 2
        send(reply.bytes[reply.headLength..<middle], to: client)
        striker.reach(.replyHalf, of: number)
        send(reply.bytes[middle...], to: client)
        striker.reach(.replyDelivered, of: number)
    }

    private func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// One HTTP/1.1 message, to its end or to that of the connection.
private struct Message {
    private(set) var bytes: [UInt8] = []
    private(set) var headLength = 0
    private var bodyLength: Int?

    init(from socket: Int32, onFirstByte: () -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isWhole {
            let count = unsafe read(socket, &buffer, buffer.count)
            guard count > 0 else { return }
            if bytes.isEmpty { onFirstByte() }
            bytes += buffer[..<count]
            if headLength == 0 { findHead() }
        }
    }

    private var isWhole: Bool {
        guard headLength > 0, let bodyLength else { return false }
        return bytes.count >= headLength + bodyLength
    }

    mutating func replaceHead(_ old: String, _ new: String) {
        let head = String(decoding: bytes[..<headLength], as: UTF8.self).replacing(old, with: new)
        bytes.replaceSubrange(..<headLength, with: Array(head.utf8))
        headLength = head.utf8.count
    }

    private mutating func findHead() {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        headLength = end.upperBound
        bodyLength = 0
        for line in String(decoding: bytes[..<headLength], as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = parts[1].trimmingCharacters(in: .whitespaces)
            switch parts[0].lowercased() {
            case "content-length": bodyLength = Int(value)
            // Then the end of the connection is the end of the message.
            case "transfer-encoding": bodyLength = nil
            default: break
            }
        }
    }
}
