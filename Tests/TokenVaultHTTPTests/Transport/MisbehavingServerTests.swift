import Foundation
import HTTPTypes
import OAuthClient
import RawSockets
import Testing
import TokenVaultHTTP

/// One server that misbehaves in one way, and what the caller must be told.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: [HTTPTransportError.Code]
    let act: @Sendable (RawConnection) -> Void

    init(
        _ name: String,
        _ codes: HTTPTransportError.Code...,
        act: @escaping @Sendable (RawConnection) -> Void
    ) {
        (testDescription, self.codes, self.act) = (name, codes, act)
    }

    static let all: [Misbehaviour] = [
        Misbehaviour("accepts and never answers", .timeout) { $0.waitForPeer() },
        Misbehaviour("reads everything and never answers", .timeout) {
            $0.readRequest()
            $0.waitForPeer()
        },
        Misbehaviour("resets after the request's head", .reset) {
            $0.readHead()
            $0.resetOnClose()
        },
        Misbehaviour("resets after the whole request", .reset) {
            $0.readRequest()
            $0.resetOnClose()
        },
        Misbehaviour("closes without an answer", .reset) { $0.readRequest() },
        Misbehaviour("resets in mid-body", .truncated, .reset) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"refresh_token\":\"abc\",")
            $0.resetOnClose()
        },
        Misbehaviour("closes between two chunks", .truncated) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
        },
        Misbehaviour("closes in mid-body", .truncated) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"refresh_token\":\"abc\",")
        },
        Misbehaviour("announces 100 MiB", .tooLarge) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
            $0.waitForPeer()
        },
        Misbehaviour("sends 100 MiB in chunks", .tooLarge) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
            for _ in 0..<1600 where !$0.write(chunk) { return }
        },
        Misbehaviour("sends one byte at a time", .timeout) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while $0.write("x") { usleep(50_000) }
        },
        Misbehaviour("sends its head one byte at a time", .timeout) {
            $0.readRequest()
            for byte in "HTTP/1.1 200 OK\r\nX-Slow: 0123456789012345678901234567890".utf8 where $0.write([byte]) {
                usleep(50_000)
            }
            $0.waitForPeer()
        },
        Misbehaviour("speaks no HTTP", .protocolViolation) {
            $0.readRequest()
            $0.write("SSH-2.0-OpenSSH_9.2\r\n\r\n")
            $0.waitForPeer()
        },
        Misbehaviour("sends 10 000 header fields", .tooLarge, .protocolViolation) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\n" + (0..<10_000).map { "X-\($0): 1\r\n" }.joined() + "\r\n")
            $0.waitForPeer()
        },
        Misbehaviour("sends a header field of 60 000 bytes", .tooLarge, .protocolViolation) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "y", count: 60_000) + "\r\n\r\n")
            $0.waitForPeer()
        },
        Misbehaviour("says 100 Continue for ever", .protocolViolation) {
            $0.readRequest()
            let flood = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)
            while $0.write(flood) {}
        },
        Misbehaviour("sends both lengths", .protocolViolation, .truncated, .reset) {
            $0.readRequest()
            $0.write(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        },
        Misbehaviour("sends a NUL in a header field", .protocolViolation) {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nX-Odd: a\0b\r\nContent-Length: 0\r\n\r\n")
        },
    ]
}

struct MisbehavingServerTests {
    @Test(arguments: Misbehaviour.all)
    func misbehaviourAfterSendingIsInDoubtAndNotRepeated(_ misbehaviour: Misbehaviour) async throws {
        let server = try RawServer(misbehaviour.act)
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token", limits: .impatient)
        let failure = try #require(result.failure)
        #expect(failure.phase == .maybeSent)
        #expect(misbehaviour.codes.contains(failure.code), "\(failure.code)")
        #expect(server.connections == 1)
    }

    @Test func aServerThatRefusesConnectionsWasNotSentAnything() async throws {
        let port = try RawServer.unusedPort()
        let result = await sendToken(to: "http://127.0.0.1:\(port)/token")
        #expect(result.failure == HTTPTransportError(.notSent, .connect))
    }

    @Test func aHostNameThatDoesNotResolveWasNotSentAnything() async throws {
        let result = await sendToken(to: "https://no-such-host.invalid/token")
        #expect(result.failure?.phase == .notSent)
        #expect([.dns, .timeout].contains(result.failure?.code))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreReturnedAndNotFollowed(_ status: Int) async throws {
        let other = try RawServer { $0.readRequest() }
        let otherPort = other.port
        let server = try RawServer {
            $0.readRequest()
            $0.write(
                "HTTP/1.1 \(status) Elsewhere\r\nLocation: http://127.0.0.1:\(otherPort)/\r\nContent-Length: 0\r\n\r\n")
        }
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token")
        #expect(result.reply?.response.status.code == status)
        #expect(server.connections == 1)
        #expect(other.connections == 0)
    }

    @Test func theSecondOfTwoAnswersIsIgnored() async throws {
        let server = try RawServer {
            $0.readRequest()
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            $0.write(reply + "first" + reply + "other")
        }
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token")
        #expect(result.reply.map { String(decoding: $0.body, as: UTF8.self) } == "first")
    }

    @Test func anAnswerBeforeTheRequestIsCompleteCountsAsSent() async throws {
        let server = try RawServer {
            $0.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            $0.readRequest()
        }
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token")
        #expect(result.reply?.response.status.code == 503 || result.failure?.phase == .maybeSent)
        #expect(server.connections == 1)
    }
}
