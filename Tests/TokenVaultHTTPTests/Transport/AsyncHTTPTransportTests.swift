import Foundation
import HTTPTypes
import OAuthClient
import RawSockets
import TestSupport
import Testing
import TokenVaultHTTP

struct AsyncHTTPTransportTests {
    private static func answering(_ body: String = "{}") throws -> RawServer {
        try RawServer {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\n\(body)")
            $0.waitForPeer()
        }
    }

    @Test func requestAndReplyArriveUnchanged() async throws {
        let server = try Self.answering("{\"access_token\":\"x\"}")
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token?a=b%20c")
        let reply = try #require(result.reply)
        #expect(reply.response.status.code == 200)
        #expect(String(decoding: reply.body, as: UTF8.self) == "{\"access_token\":\"x\"}")
        #expect(reply.response.headerFields.filter { $0.name.canonicalName == "x-twice" }.map(\.value) == ["1", "2"])
        let request = try #require(server.received.first)
        #expect(request.hasPrefix("POST /token?a=b%20c HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("content-type: application/x-www-form-urlencoded\r\n"))
        #expect(request.hasSuffix("\r\n\r\ngrant_type=refresh_token"))
    }

    /// A server may take long for each of many users. It answers here once all have asked.
    @Test func aSlowServerIsAskedForManyUsersAtOnce() async throws {
        let (users, asked, hasEnded) = (100, Counter(), Flag())
        let server = try RawServer { connection in
            connection.readRequest()
            asked.add()
            while asked.value < users, !hasEnded.isSet { usleep(1_000) }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            connection.waitForPeer()
        }
        let transport = AsyncHTTPTransport(options: .loopback)
        let replies = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<users {
                group.addTask {
                    let url = "http://127.0.0.1:\(server.port)/token"
                    return await sendToken(to: url, through: transport).reply?.response.status.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        hasEnded.set()
        #expect(replies.allSatisfy { $0 == 200 } && replies.count == users)
        await transport.shutdown()
    }

    @Test func aDeniedAddressIsNotConnectedTo() async throws {
        let server = try Self.answering()
        for host in ["127.0.0.1", "localhost"] {
            var options = AsyncHTTPTransport.Options.loopback
            options.deniesAddress = AsyncHTTPTransport.isSpecialPurpose
            let transport = AsyncHTTPTransport(options: options)
            let result = await sendToken(to: "http://\(host):\(server.port)/token", through: transport)
            #expect(result.failure == HTTPTransportError(.notSent, .refused))
            await transport.shutdown()
        }
        #expect(server.connections == 0)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.0.1", true),
        ("169.254.169.254", true), ("100.64.0.1", true), ("100.128.0.1", false), ("0.0.0.0", true), ("192.0.2.1", true),
        ("198.19.255.255", true), ("198.20.0.0", false), ("224.0.0.1", true), ("255.255.255.255", true),
        ("1.1.1.1", false), ("::1", true), ("::", true), ("::ffff:1.1.1.1", true), ("fe80::1", true), ("fd00::1", true),
        ("ff02::1", true), ("64:ff9b::a00:1", true), ("2001:db8::1", true), ("2001::1", true), ("2002:a00:1::", true),
        ("2606:4700::1111", false), ("2001:4860:4860::8888", false), ("app.example", true), ("", true),
    ])
    func whatIsNotOfThePublicNetwork(address: String, isSpecial: Bool) {
        #expect(AsyncHTTPTransport.isSpecialPurpose(address) == isSpecial)
    }

    @Test func everyRequestHasAConnectionOfItsOwn() async throws {
        let server = try Self.answering()
        let transport = AsyncHTTPTransport(options: .loopback)
        for _ in 0..<5 {
            let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token", through: transport)
            #expect(result.reply != nil)
        }
        #expect(server.connections == 5)
        await transport.shutdown()
    }

    @Test func manyRequestsAtOnceAllGetAnswers() async throws {
        let server = try Self.answering()
        let transport = AsyncHTTPTransport(options: .loopback)
        let url = "http://127.0.0.1:\(server.port)/token"
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { await sendToken(to: url, through: transport).reply != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered == 64)
        #expect(server.connections == 64)
        await transport.shutdown()
    }

    @Test func connectionOfACancelledRequestIsNotReused() async throws {
        let server = try Self.answering()
        let transport = AsyncHTTPTransport(options: .loopback)
        let url = "http://127.0.0.1:\(server.port)/token"
        let cancelled = Task { await sendToken(to: url, through: transport) }
        cancelled.cancel()
        _ = await cancelled.value
        try await Task.sleep(for: .milliseconds(100))
        let before = server.connections
        #expect(await sendToken(to: url, through: transport).reply != nil)
        #expect(server.connections == before + 1)
        await transport.shutdown()
    }

    @Test func cancellingAfterTheRequestLeftIsInDoubt() async throws {
        let server = try RawServer {
            $0.readRequest()
            $0.waitForPeer()
        }
        let url = "http://127.0.0.1:\(server.port)/token"
        let sending = Task { await sendToken(to: url) }
        while server.received.isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
        sending.cancel()
        #expect(await sending.value.failure == HTTPTransportError(.maybeSent, .cancelled))
    }

    @Test(arguments: [
        "http://example.com/token", "http://10.0.0.1/token", "http://127.0.0.1.example.com/token",
        "http://user@127.0.0.1/token", "ftp://127.0.0.1/token", "https:///token", "https://host:99999/token",
        "https://user:secret@example.com/token", "http+unix://%2Ftmp%2Fsocket/token",
    ])
    func forbiddenTargetIsRefusedBeforeSending(_ url: String) async {
        let result = await sendToken(to: url)
        #expect(result.failure?.phase == .notSent)
        #expect([.refused, .refused].contains(result.failure?.code))
    }

    @Test func plainHTTPNeedsPermissionEvenOnLoopback() async throws {
        let server = try Self.answering()
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token", options: .init())
        #expect(result.failure == HTTPTransportError(.notSent, .refused))
        #expect(server.connections == 0)
    }

    @Test func proxiesOfTheEnvironmentAreIgnored() async throws {
        let proxy = try RawServer { $0.readRequest() }
        let server = try Self.answering()
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"] {
            unsafe setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
        }
        defer {
            for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"] {
                unsafe unsetenv(name)
            }
        }
        #expect(await sendToken(to: "http://127.0.0.1:\(server.port)/token").reply != nil)
        #expect(proxy.connections == 0)
    }

    @Test func aTransportThatWasShutDownSendsNothing() async throws {
        let server = try Self.answering()
        let transport = AsyncHTTPTransport(options: .loopback)
        await transport.shutdown()
        await transport.shutdown()
        let result = await sendToken(to: "http://127.0.0.1:\(server.port)/token", through: transport)
        #expect(result.failure?.phase == .notSent)
        #expect(server.connections == 0)
    }

    @Test func aTransportThatIsDroppedCleansUpAfterItself() async throws {
        let server = try Self.answering()
        do {
            let transport = AsyncHTTPTransport(options: .loopback)
            #expect(await sendToken(to: "http://127.0.0.1:\(server.port)/token", through: transport).reply != nil)
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}
