import HTTPTypes
import OAuthClient
import RawSockets
import Testing

@testable import TokenVaultHTTP

/// Replies that cannot be taken, and may hold the only copy of the next refresh token.
struct BrokenReplyTests {
    private static let tokens = #"{"access_token":"a","token_type":"Bearer","refresh_token":"CANARY-next"}"#
    private static let chunk = String(tokens.utf8.count, radix: 16) + "\r\n" + tokens + "\r\n"

    private func send(_ bytes: String, limits: HTTPLimits = .impatient) async throws -> SendResult {
        let server = try RawServer {
            $0.readRequest()
            $0.write(bytes)
            $0.waitForPeer()
        }
        return await sendToken(to: "http://127.0.0.1:\(server.port)/token", limits: limits)
    }

    static let kept: [(String, String)] = [
        ("a bad chunk size in the same read", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)zz\r\n"),
        (
            "65 header fields",
            "HTTP/1.1 200 OK\r\n" + (0..<64).map { "X-\($0): 1\r\n" }.joined()
                + "Content-Length: \(tokens.utf8.count)\r\n\r\n\(tokens)"
        ),
        (
            "a head of 40 000 bytes",
            "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "y", count: 40_000)
                + "\r\nContent-Length: \(tokens.utf8.count)\r\n\r\n\(tokens)"
        ),
        (
            "two lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: \(tokens.utf8.count)\r\nContent-Length: 5\r\n\r\n\(tokens)"
        ),
        (
            "a length and chunks",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n"
        ),
        ("a length that is too large", "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n\(tokens)"),
    ]

    @Test(arguments: kept)
    func whatCameOfItIsKept(_ name: String, _ bytes: String) async throws {
        let failure = try #require(try await send(bytes).failure)
        #expect(failure.phase == .maybeSent)
        let received = try #require(failure.received)
        #expect(received.response.status == .ok)
        let body = String(decoding: received.body, as: UTF8.self)
        #expect(body.contains("CANARY-next"))
    }

    @Test func noMoreThan64KiBAreKept() async throws {
        let body = String(repeating: "x", count: 200_000)
        let head = "HTTP/1.1 200 OK\r\n" + (0..<65).map { "X-\($0): 1\r\n" }.joined()
        let failure = try #require(try await send(head + "Content-Length: 200000\r\n\r\n" + body).failure)
        #expect(failure.code == .tooLarge)
        #expect(failure.received?.body.count == RawReply.mostBody)
    }

    static let whole: [(String, String)] = [
        ("a length as a trailer", "0\r\nContent-Length: 5\r\n\r\n"), ("a broken trailer", "0\r\nno colon\r\n\r\n"),
        ("a trailer that does not end", "0\r\nX-A: 1\r\n"), ("nothing after the zero chunk", "0\r\n"),
        ("a proper end", "0\r\nX-A: 1\r\n\r\n"), ("a chunk extension", "0;x=y\r\n\r\n"),
    ]

    @Test(arguments: whole)
    func aBodyIsWholeOnceItsZeroChunkHasCome(_ name: String, _ end: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let reply = try #require(try await send(head + Self.chunk + end).reply)
        #expect(String(decoding: reply.body, as: UTF8.self) == Self.tokens)
    }

    @Test func aBodyWithoutItsZeroChunkIsNotWhole() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let failure = try #require(try await send(head + Self.chunk).failure)
        #expect(failure.code == .timeout)
        #expect(failure.received.map { String(decoding: $0.body, as: UTF8.self) } == Self.tokens)
    }

    /// However the bytes are cut into reads, the same is read.
    @Test func theReaderDoesNotCareHowItsBytesCome() {
        let bytes = Array(
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nContent-Length: 1\r\n\r\n").utf8)
        for size in 1...bytes.count {
            var raw = RawReply()
            var rest = bytes[...]
            while !rest.isEmpty {
                raw.read(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(raw.isWholeInChunks)
            #expect(raw.reply.map { String(decoding: $0.body, as: UTF8.self) } == "hello world")
            #expect(raw.reply?.response.headerFields[.contentType] == "application/json")
            #expect(raw.bodyCount == 11)
        }
    }
}
