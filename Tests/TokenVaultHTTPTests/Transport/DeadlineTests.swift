import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import TestSupport
import Testing
import TokenVaultHTTP

/// The edge of a time limit: a request that is reported as unsent is repeated with the same refresh token, so the server
/// must not have seen it.
struct DeadlineTests {
    /// Each request moves the time limit towards the moment at which requests leave, whatever this machine's speed.
    @Test func aRequestThatIsReportedAsUnsentNeverArrives() async throws {
        let server = try RawServer {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let transport = AsyncHTTPTransport(options: .loopback)
        let port = server.port
        let perLane = Depth.pick(brief: 150, nightly: 1_500, deep: 15_000)
        let lanes = try await Array(0..<8).concurrently { lane in
            var limit = Duration.milliseconds(2)
            var outcomes: [(path: String, result: SendResult)] = []
            for number in 0..<perLane {
                let path = "/token/\(lane)/\(number)"
                let result = await sendToken(
                    to: "http://127.0.0.1:\(port)\(path)",
                    limits: HTTPLimits(connectTimeout: .seconds(25), timeout: limit), through: transport)
                limit = result.failure?.phase == .notSent ? limit * 1.05 : limit / 1.05
                outcomes.append((path, result))
            }
            return outcomes
        }
        await transport.shutdown()
        while server.received.count < server.connections { try await Task.sleep(for: .milliseconds(5)) }

        let outcomes = lanes.flatMap { $0 }
        let arrived = Set(server.received.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) })
        let unsent = outcomes.filter { $0.result.failure?.phase == .notSent }
        let doubtful = outcomes.filter { $0.result.failure?.phase == .maybeSent }
        let answered = outcomes.filter { $0.result.reply != nil }
        print(
            "deadlines: \(outcomes.count) requests, \(unsent.count) unsent, \(doubtful.count) in doubt,",
            "\(answered.count) answered")
        #expect(unsent.allSatisfy { !arrived.contains($0.path) })
        #expect(answered.allSatisfy { arrived.contains($0.path) })
        #expect(!unsent.isEmpty && unsent.count < outcomes.count)
    }
}
