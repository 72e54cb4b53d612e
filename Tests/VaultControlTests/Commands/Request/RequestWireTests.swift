import Foundation
import RawSockets
import Testing
import VaultControl

/// What `vaultctl request` writes to the wire, and where a redirect takes it.
struct RequestWireTests {
    private static func login(_ harness: Harness) async throws {
        try await harness.run("init")
        let result = try await harness.run(
            "login", "add", "--user", "alice", "--access-token", "-", "--expires-in", "1h", input: "CANARY-token")
        #expect(result.status == 0)
    }

    private static func request(_ url: String, _ options: String...) -> [String] {
        ["request", url, "--user", "alice", "--allow-insecure-loopback"] + options
    }

    /// Answers each path with what `replies` says, `200` and the path otherwise.
    private static func server(_ replies: [String: String] = [:]) throws -> RawServer {
        try RawServer { connection in
            while true {
                let request = connection.readRequest()
                guard !request.isEmpty else { return }
                let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                let reply =
                    replies[path] ?? "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
                guard connection.write(reply) else { return }
            }
        }
    }

    private static func redirect(_ status: Int, to location: String) -> String {
        "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
    }

    @Test func methodFieldsAndBodyGoOutAsGiven() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let server = try Self.server()
        let base = "http://127.0.0.1:\(server.port)"
        let note = try harness.file("note.json", #"{"text":"hello"}"#)
        let fields = try harness.file("fields", "X-One: 1\nX-Key: CANARY-key\n")
        try await harness.run(
            Self.request(base + "/a?b=c%20d", "-X", "PUT", "-H", "Content-Type: application/json", "-d", "@" + note))
        try await harness.run(Self.request(base + "/form", "--data", "a=b", "--header", "@" + fields))
        try await harness.run(Self.request(base + "/piped", "-d", "@-"), input: "from the pipe\n")
        let requests = server.received.filter { !$0.isEmpty }
        try #require(requests.count == 3)
        #expect(requests[0].hasPrefix("PUT /a?b=c%20d HTTP/1.1\r\n"))
        #expect(requests[0].contains("\r\nAuthorization: Bearer CANARY-token\r\n"))
        #expect(requests[0].contains("\r\nContent-Type: application/json\r\n"))
        #expect(requests[0].contains("\r\nUser-Agent: vaultctl\r\n"))
        #expect(requests[0].hasSuffix("\r\n\r\n" + #"{"text":"hello"}"#))
        #expect(requests[1].hasPrefix("POST /form HTTP/1.1\r\n"))
        #expect(requests[1].contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"))
        #expect(requests[1].contains("\r\nX-One: 1\r\nX-Key: CANARY-key\r\n"))
        #expect(requests[2].hasSuffix("\r\n\r\nfrom the pipe\n"))
    }

    @Test func aRedirectIsPrintedUnlessItIsToBeFollowed() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let server = try Self.server([
            "/303": Self.redirect(303, to: "/b?c=d#e"), "/307": Self.redirect(307, to: "next"),
            "/loop": Self.redirect(302, to: "/loop"),
        ])
        let base = "http://127.0.0.1:\(server.port)"
        let shown = try await harness.run(Self.request(base + "/303", "--include"))
        #expect(shown.status == 0)
        #expect(shown.output.hasPrefix("HTTP/1.1 303\nLocation: /b?c=d#e\n"))
        #expect(shown.error.contains("the server redirects to /b (303), which is not followed"), "\(shown.error)")
        let followed = try await harness.run(Self.request(base + "/303", "--follow", "-d", "x"))
        #expect(followed.output == "/b?c=d")
        let kept = try await harness.run(Self.request(base + "/307", "-L", "-d", "body"))
        #expect(kept.output == "/next")
        let lines = server.received.compactMap { $0.split(separator: "\r\n").first.map(String.init) }
        #expect(lines.contains("GET /b?c=d HTTP/1.1"))
        #expect(lines.contains("POST /next HTTP/1.1"))
        #expect(server.received.last { $0.hasPrefix("POST /next") }?.hasSuffix("\r\n\r\nbody") == true)
        let before = server.received.count
        let loop = try await harness.run(Self.request(base + "/loop", "-L"))
        #expect(loop.status == 9)
        #expect(loop.error.contains("redirects more than 10 times"))
        #expect(server.received[before...].count { $0.hasPrefix("GET /loop") } == 11)
    }

    @Test func noTokenFollowsARedirectToAnotherServer() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let other = try Self.server()
        for location in [
            "http://127.0.0.1:\(other.port)/", "//127.0.0.1:\(other.port)/", "http://localhost:\(other.port)/",
            "http://api.example/", "ftp://127.0.0.1/", "http://me@127.0.0.1/",
        ] {
            let server = try Self.server(["/": Self.redirect(307, to: location)])
            let result = try await harness.run(
                Self.request("http://127.0.0.1:\(server.port)/", "--follow", "-d", "x"))
            #expect(result.status == 9, "\(location)")
            #expect(result.error.contains("the server redirects to"), "\(location): \(result.error)")
            #expect(server.connections == 1)
        }
        #expect(other.connections == 0)
    }

    @Test func aReplyThatBreaksOffIsAFailure() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let server = try RawServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        }
        let result = try await harness.run(Self.request("http://127.0.0.1:\(server.port)/"))
        #expect(result.status == 9)
        #expect(result.output == "only this")
    }

    @Test func bytesThatAreNoTextComeThroughAPipeAndAsBase64() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let bytes: [UInt8] = [0xFF, 0x00, 0x1B, 0x5B]
        let server = try RawServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
            connection.write(bytes)
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let document = try await harness.run(Self.request(url, "--json")).json
        #expect(document["body"] is NSNull)
        #expect(document["bodyBase64"] as? String == Data(bytes).base64EncodedString())
        let piped = try await Program(harness: harness).shell(
            "\"$vaultctl\" request \(url) --user alice --allow-insecure-loopback | od -An -tx1")
        #expect(piped.output == " ff 00 1b 5b\n", "\(piped.error)")
    }

    @Test func aTerminalGetsNoCommandsFromAnAPI() async throws {
        let harness = try Harness()
        try await Self.login(harness)
        let body = "{\n\t\"name\": \"\u{1B}]0;owned\u{07}\u{202E}\\n\"}"
        let server = try Self.server([
            "/text": "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            "/bytes": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\u{0}x",
        ])
        let base = "http://127.0.0.1:\(server.port)"
        let text = try PseudoTerminal(Self.request(base + "/text", "-i"), environment: harness.environment)
        #expect(try await text.exitCode() == 0)
        #expect(!text.screen.contains("\u{1B}") && !text.screen.contains("\u{202E}"))
        #expect(text.screen.contains("\"name\": \"\\u{1b}]0;owned\\u{7}\\u{202e}\\n\"}\r\n"), "\(text.screen)")
        let bytes = try PseudoTerminal(Self.request(base + "/bytes"), environment: harness.environment)
        #expect(try await bytes.exitCode() == 1)
        #expect(bytes.screen.contains("the reply's body is not text (2 bytes)"), "\(bytes.screen)")
        #expect(bytes.screen.contains("send the output to a file or a pipe"))
    }
}
