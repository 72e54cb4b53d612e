import HTTPTypes
import OAuthClient
import Testing
import TokenVaultHTTP

/// A user's browser at a server that approves by itself: opens the URL and reports where it is sent.
enum Browser {
    static func visit(_ url: String) async throws -> String {
        let rest = try #require(url.split(separator: "http://", omittingEmptySubsequences: true).first)
        let slash = try #require(rest.firstIndex(of: "/"))
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: String(rest[..<slash]), path: String(rest[slash...]))
        let transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true))
        let reply = try await transport.send(request, body: [], limits: .tokenEndpoint)
        await transport.shutdown()
        #expect(reply.response.status.kind == .redirection, "\(String(decoding: reply.body, as: UTF8.self))")
        return try #require(reply.response.headerFields[.location])
    }
}
