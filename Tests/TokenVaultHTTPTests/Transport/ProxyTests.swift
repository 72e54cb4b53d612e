import FoundationEssentials
import HTTPTypes
import OAuthClient
import RawSockets
import Testing
import TokenVaultHTTP

struct ProxyTests {
    private static let body = "grant_type=refresh_token"

    private static func answering() throws -> TLSServer {
        try TLSServer(.localhost) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            connection.end()
        }
    }

    private static func send(
        to server: TLSServer, through proxy: ConnectProxy,
        credentials: AsyncHTTPTransport.Proxy.Credentials? = nil
    ) async throws -> SendResult {
        let options = AsyncHTTPTransport.Options(
            trustRoots: try .systemAnd(pemFile: server.trustFile),
            proxy: try .init("http://127.0.0.1:\(proxy.port)", credentials: credentials))
        return await sendToken(to: "https://localhost:\(server.port)/token", options: options)
    }

    @Test func theProxyLearnsWhereAndNothingElse() async throws {
        let server = try Self.answering()
        try await ConnectProxy.with { proxy in
            let result = try await Self.send(to: server, through: proxy)
            #expect(result.reply?.response.status.code == 200)
            let seen = proxy.seen
            #expect(seen.heads.count == 1)
            #expect(seen.heads.first?.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n") == true)
            #expect(!seen.relayed.isEmpty)
            #expect(!String(decoding: seen.relayed, as: UTF8.self).contains(Self.body))
            #expect(server.received.first?.contains(Self.body) == true)
            #expect(server.received.first?.lowercased().contains("proxy") == false)
        }
    }

    @Test func credentialsGoToTheProxyAlone() async throws {
        let server = try Self.answering()
        let expected = "Basic " + Data("CANARY-user:CANARY:pass".utf8).base64EncodedString()
        try await ConnectProxy.with(.connects(authorization: expected)) { proxy in
            let result = try await Self.send(
                to: server, through: proxy, credentials: .init(user: "CANARY-user", password: "CANARY:pass"))
            #expect(result.reply != nil)
            #expect(server.received.first?.contains("CANARY-user") == false)
            #expect(server.received.first?.lowercased().contains("proxy-authorization") == false)
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let manner: ConnectProxy.Manner
    }

    static let refusals = [
        Refusal(testDescription: "403", manner: .answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")),
        Refusal(testDescription: "502", manner: .answers("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\nnone")),
        Refusal(
            testDescription: "a redirect",
            manner: .answers("HTTP/1.1 302 Found\r\nLocation: https://x.example/\r\n\r\n")),
        Refusal(testDescription: "wants credentials", manner: .connects(authorization: "Basic x")),
        Refusal(testDescription: "hangs up", manner: .hangsUp),
        Refusal(testDescription: "speaks no HTTP", manner: .answers("SSH-2.0-x\r\n\r\n")),
    ]

    /// A tunnel that does not come about has carried nothing: the refresh token is as good as before.
    @Test(arguments: refusals)
    func aRefusedConnectSendsNothing(_ refusal: Refusal) async throws {
        let server = try Self.answering()
        try await ConnectProxy.with(refusal.manner) { proxy in
            let failure = try await Self.send(to: server, through: proxy).failure
            #expect(failure?.phase == .notSent)
            #expect(proxy.seen.heads.count == 1)
            #expect(proxy.seen.relayed.isEmpty)
            #expect(server.connections == 0)
        }
    }

    @Test func aProxyThatSaysNoIsNamed() async throws {
        let server = try Self.answering()
        try await ConnectProxy.with(Self.refusals[0].manner) { proxy in
            let result = try await Self.send(to: server, through: proxy)
            #expect(result.failure == HTTPTransportError(.notSent, .proxy))
        }
    }

    /// This machine is this machine, whichever machine the proxy would connect to.
    @Test func plainHTTPToThisMachineGoesPastTheProxy() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        }
        try await ConnectProxy.with { proxy in
            let result = await sendToken(
                to: "http://127.0.0.1:\(server.port)/token",
                options: .init(
                    allowsInsecureLoopback: true, proxy: try .init("http://127.0.0.1:\(proxy.port)")))
            #expect(result.reply != nil)
            #expect(proxy.seen.heads.isEmpty)
        }
    }

    @Test func whatIsNoProxyIsRefused() throws {
        for url in [
            "", "proxy:3128", "https://proxy:3128", "socks5://proxy:1080", "http://", "http://user:pass@proxy:3128",
            "http://proxy:0x50", "http://proxy:99999", "http://proxy/path", "http://proxy:3128?x",
        ] {
            #expect(throws: OAuthValueError(.malformed, "URL of the proxy")) { try AsyncHTTPTransport.Proxy(url) }
        }
        #expect("\(try AsyncHTTPTransport.Proxy("http://[::1]:3128/"))" == "http://[::1]:3128")
        #expect("\(try AsyncHTTPTransport.Proxy("http://proxy.example"))" == "http://proxy.example:80")
        #expect(throws: OAuthValueError.self) { try AsyncHTTPTransport.Proxy.Credentials(user: "a:b", password: "x") }
        #expect(throws: OAuthValueError.self) { try AsyncHTTPTransport.Proxy.Credentials(user: "a", password: "x\r\n") }
    }

    @Test func noRenderingShowsTheCredentials() throws {
        let proxy = try AsyncHTTPTransport.Proxy(
            "http://proxy:3128", credentials: .init(user: "CANARY-user", password: "CANARY-pass"))
        let options = AsyncHTTPTransport.Options(proxy: proxy)
        var text = "\(proxy) \(String(reflecting: proxy)) \(options)"
        dump(options, to: &text)
        #expect(!text.contains("CANARY"))
    }
}
