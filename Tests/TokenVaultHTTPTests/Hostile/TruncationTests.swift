import Foundation
import OAuthClient
import Synchronization
import TestSupport
import Testing
import TokenVaultHTTP

/// A reply that is cut is no reply: neither tokens nor a verdict. Only what follows the zero chunk of a body in chunks may
/// be missing (RFC 9112 §8): trailer fields, and the line end after them.
struct TruncationTests {
    struct Reply: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let head: String
        let body: String
        let whole: HostileCase.Outcome
        /// What follows the body.
        var trailer = ""

        var bytes: [UInt8] { Array((head + body).utf8) }
        /// So many bytes are enough.
        var wholeAt: Int { bytes.count - trailer.utf8.count }
    }

    static let replies: [Reply] = [
        ("tokens", 200, HostileReply.good(), HostileCase.Outcome.success),
        ("a verdict", 400, HostileReply.invalidGrant, .dead),
        ("tokens in a form", 200, "access_token=aaaa&token_type=bearer&refresh_token=bbbb&expires_in=3600", .success),
    ].flatMap { name, status, body, whole in
        [
            Reply(
                testDescription: "\(name), with a length",
                head: HostileStep.head(
                    status, ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]),
                body: body, whole: whole),
            Reply(
                testDescription: "\(name), in chunks",
                head: HostileStep.head(status, ["Content-Type: application/json", "Transfer-Encoding: chunked"]),
                body: chunks(body), whole: whole, trailer: "\r\n"),
            Reply(
                testDescription: "\(name), in chunks with a trailer",
                head: HostileStep.head(status, ["Content-Type: application/json", "Transfer-Encoding: chunked"]),
                body: chunks(body).dropLast("\r\n".count) + "X-Trailer: 1\r\n\r\n", whole: whole,
                trailer: "X-Trailer: 1\r\n\r\n"),
        ]
    }

    /// Two chunks and the last one. (To Swift, a line end is one character.)
    private static func chunks(_ body: String) -> String {
        HostileCase.chunked(String(body.prefix(9))).dropLast("0\r\n\r\n".count)
            + HostileCase.chunked(String(body.dropFirst(9)))
    }

    @Test(arguments: replies, [false, true])
    func aCutReplyIsNeverBelieved(_ reply: Reply, resets: Bool) async throws {
        let transport = AsyncHTTPTransport(options: .loopback)
        let bytes = reply.bytes
        let believed = Mutex<[Int]>([])
        try await Array(0...bytes.count).concurrently(atMost: 16) { count in
            let steps: [HostileStep] = [.readRequest, .write(Array(bytes[..<count]))] + (resets ? [.reset] : [])
            let run = try await HostileRun(HostileCase("cut", steps, .doubt), through: transport)
            #expect(run.connections == 1)
            if run.outcome != .doubt {
                #expect(run.outcome == reply.whole)
                believed.withLock { $0.append(count) }
            }
        }
        await transport.shutdown()
        // A body in chunks is whole once its zero chunk has come. A reset may overtake the last bytes.
        let counts = believed.withLock { $0.sorted() }
        let whole = Array(reply.wholeAt...bytes.count)
        #expect(
            counts == whole || (resets && Set(counts).isSubset(of: whole)),
            "\(counts) of \(bytes.count) bytes were believed, not \(whole)")
        print("truncation: \(bytes.count + 1) cuts of \(reply.testDescription), \(resets ? "reset" : "closed")")
    }
}
