import AsyncHTTPClient
import OAuthClient
import RawSockets
import Testing

@testable import TokenVaultHTTP

struct ExchangeTests {
    /// Over the limits, and so refused; what follows is waited for no longer than until it ends.
    @Test(arguments: ["Content-Length: 2\r\n\r\nok", "Content-Length: 3\r\n\r\nok"])
    func aRefusedReplyThatHasEndedIsNotWaitedFor(_ rest: String) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            let long = String(repeating: "x", count: 40_000)
            connection.write("HTTP/1.1 200 OK\r\nX-Long: \(long)\r\nConnection: close\r\n\(rest)")
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let exchange = Exchange(limits: .tokenEndpoint)
        let request = try HTTPClient.Request(url: "http://127.0.0.1:\(server.port)/")
        await #expect(throws: (any Error).self) {
            _ = try await client.execute(request: request, delegate: exchange).get()
        }
        #expect(exchange.received?.body == Array("ok".utf8))
        #expect(!exchange.isWaitingForRest)
        try await client.shutdown()
    }
}
