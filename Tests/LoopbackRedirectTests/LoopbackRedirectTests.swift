import Foundation
import Glibc
import OAuthClient
import RawSockets
import Testing

@testable import LoopbackRedirect

/// What came back over a raw connection.
private struct Answer {
    let text: String

    var status: Int { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }

    func field(_ name: String) -> String? {
        let head = text.split(separator: "\r\n\r\n", omittingEmptySubsequences: false).first ?? ""
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        return line.map { String($0.dropFirst(name.count + 2)) }
    }
}

private struct Visitor {
    let port: Int

    /// Sends bytes as they are, and reads until the server ends the connection.
    func send(_ text: String) async throws -> Answer {
        let descriptor = try RawClient.open(UInt16(port))
        return await withCheckedContinuation { continuation in
            RawServer.detachThread {
                let connection = RawConnection(descriptor: descriptor) { _ in }
                connection.write(text)
                var answer = ""
                while let more = connection.readSome() { answer += more }
                connection.close()
                continuation.resume(returning: Answer(text: answer))
            }
        }
    }

    func get(_ target: String, method: String = "GET", host: String? = nil) async throws -> Answer {
        try await send("\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n\r\n")
    }
}

/// A listener whose log-in has begun.
private func withListener(
    at uri: LoopbackRedirectURI = .standard, requestTime: Duration = .seconds(10),
    _ body: (LoopbackRedirectListener, Visitor, Task<LoopbackCallback, any Error>) async throws -> Void
) async throws {
    let listener = try await LoopbackRedirectListener.start(at: uri, requestTime: requestTime)
    let wait = Task { try await listener.callback(answering: AuthorizationState("right")) }
    let visitor = Visitor(port: listener.port)
    // Until the wait has begun, an answer finds nothing.
    while try await visitor.get("/callback?probe").status == 404, !Task.isCancelled { await Task.yield() }
    do {
        try await body(listener, visitor, wait)
        await listener.close()
    } catch {
        await listener.close()
        throw error
    }
}

struct LoopbackRedirectTests {
    @Test func answerComesOnceAndTheBrowserSeesHowItEnded() async throws {
        try await withListener { listener, visitor, wait in
            #expect(listener.redirectURI == "http://127.0.0.1:\(listener.port)/callback")
            let first = try await visitor.get("/callback?code=c0de&state=right")
            #expect(first.status == 303)
            #expect(!first.text.contains("c0de"))
            let target = try #require(first.field("Location"))
            #expect(target.hasPrefix("/done/") && target.count == "/done/".count + 32)
            let answer = try await wait.value
            #expect(answer.url == "/callback?code=c0de&state=right")
            #expect(!"\(answer) \(String(reflecting: answer))".contains("c0de"))

            #expect(try await visitor.get("/callback?code=other&state=right").status == 410)
            async let shown = visitor.get(target)
            // The page waits for the outcome, however long that takes.
            try await Task.sleep(for: .milliseconds(50))
            await listener.finish(showing: .done)
            let page = try await shown
            #expect(page.status == 200 && page.text.contains("You are logged in"))
        }
    }

    @Test func responsesAreKeptByNobody() async throws {
        try await withListener { _, visitor, _ in
            for target in ["/", "/callback?code=x&state=wrong", "/callback?error=access_denied&state=right"] {
                let answer = try await visitor.get(target)
                #expect(answer.field("Cache-Control") == "no-store")
                #expect(answer.field("Referrer-Policy") == "no-referrer")
                #expect(answer.field("X-Content-Type-Options") == "nosniff")
                #expect(answer.field("Connection") == "close")
                guard answer.status != 303 else { continue }
                let policy = try #require(answer.field("Content-Security-Policy"))
                #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!answer.text.contains("<script"))
            }
        }
    }

    @Test(arguments: [
        ("/callback?code=x&state=wrong", 400), ("/callback?code=x", 400), ("/callback?state=right", 400),
        ("/callback", 400), ("/callback?code=x&code=y&state=right", 400), ("/callback?code=%00&state=right", 400),
        ("/callback?code=x&state=right&state=right", 400), ("/callback/?code=x&state=right", 404),
        ("/callback;x?code=x&state=right", 404), ("/other?code=x&state=right", 404), ("/favicon.ico", 404),
        ("/done/guess", 404), ("//callback?code=x&state=right", 404), ("/Callback?code=x&state=right", 404),
        ("http://127.0.0.1/callback?code=x&state=right", 404), ("*", 404),
    ])
    func wrongTargetsDoNotEndTheWait(target: String, status: Int) async throws {
        try await withListener { _, visitor, wait in
            #expect(try await visitor.get(target).status == status)
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
        }
    }

    /// What stands in the arguments of the browser has nothing of the log-in.
    @Test func theBrowserIsLedToTheLogIn() async throws {
        try await withListener { listener, visitor, wait in
            let front = "http://127.0.0.1:\(listener.port)"
            #expect(listener.startURL.hasPrefix(front + "/open/") && listener.startURL.count == front.count + 6 + 32)
            let start = String(listener.startURL.dropFirst(front.count))
            #expect(try await visitor.get(start).status == 404)
            listener.lead(to: "https://login.example/authorize?state=right")
            #expect(try await visitor.get(start).field("Location") == "https://login.example/authorize?state=right")
            #expect(try await visitor.get(start, host: "evil.example:\(listener.port)").status == 400)
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            #expect(try await visitor.get(start).status == 410)
            _ = try await wait.value
        }
    }

    /// Those that say nothing make room, so that the browser always gets in.
    @Test func silentConnectionsKeepNobodyOut() async throws {
        try await withListener(requestTime: .seconds(600)) { listener, visitor, wait in
            let silent = try (0..<100).map { _ in try RawClient.open(UInt16(listener.port)) }
            defer { silent.forEach { close($0) } }
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
        }
    }

    @Test func anotherUserIsTurnedAway() async throws {
        for (users, isAdmitted) in [(Set([getuid()]), true), (Set([getuid() + 1]), false)] {
            let listener = try await LoopbackRedirectListener.start(at: .standard, admitting: users)
            let wait = Task { try await listener.callback(answering: AuthorizationState("right")) }
            let answer = try await Visitor(port: listener.port).get("/callback?code=x&state=right")
            #expect(answer.text.isEmpty != isAdmitted)
            await listener.close()
            _ = try? await wait.value
        }
    }

    /// The real thing: a process of another user, of which the kernel says so. As root only.
    @Test(.enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func aProcessOfAnotherUserIsTurnedAway() async throws {
        let listener = try await LoopbackRedirectListener.start(at: .standard, admitting: [0])
        let wait = Task { try await listener.callback(answering: AuthorizationState("right")) }
        let script =
            "exec 3<>/dev/tcp/127.0.0.1/\(listener.port); "
            + "printf 'GET /callback?code=x&state=right HTTP/1.1\\r\\nHost: 127.0.0.1:\(listener.port)\\r\\n\\r\\n' >&3; cat <&3"
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/setpriv")
        program.arguments = ["--reuid=65534", "--clear-groups", "/bin/bash", "-c", script]
        let output = Pipe()
        program.standardOutput = output
        program.standardError = FileHandle.nullDevice
        try program.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(answer.isEmpty)
        while try await Visitor(port: listener.port).get("/callback?probe").status == 404, !Task.isCancelled {
            await Task.yield()
        }
        #expect(try await Visitor(port: listener.port).get("/callback?code=y&state=right").status == 303)
        #expect(try await wait.value.url.contains("code=y"))
        await listener.close()
    }

    @Test(arguments: ["HEAD", "POST", "PUT", "OPTIONS", "DELETE", "PATCH"])
    func onlyGetBringsAnAnswer(method: String) async throws {
        try await withListener { _, visitor, wait in
            let answer = try await visitor.get("/callback?code=x&state=right", method: method)
            #expect(answer.status == 405 && answer.field("Allow") == "GET")
            if method == "HEAD" { #expect(!answer.text.contains("<html")) }
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
        }
    }

    @Test func formPostIsAnsweredWithoutItsSecrets() async throws {
        try await withListener { _, visitor, _ in
            let body = "code=c0de&state=right"
            let answer = try await visitor.send(
                "POST /callback HTTP/1.1\r\nHost: localhost:\(visitor.port)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\n\r\n\(body)")
            #expect(answer.status == 405 && answer.text.contains("response_mode=query"))
            #expect(!answer.text.contains("c0de"))
        }
    }

    @Test(arguments: ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
    func otherNamesOfThisMachineAreTurnedAway(host: String) async throws {
        try await withListener { _, visitor, _ in
            #expect(try await visitor.get("/callback?code=x&state=right", host: host).status == 400)
            let none = try await visitor.send("GET /callback?code=x&state=right HTTP/1.1\r\n\r\n")
            #expect(none.status == 400)
            let two = try await visitor.send(
                "GET /callback?code=x&state=right HTTP/1.1\r\nHost: 127.0.0.1:\(visitor.port)\r\nHost: b\r\n\r\n")
            #expect(two.status == 400)
        }
    }

    @Test(arguments: [
        "\r\n\r\n\r\n", "hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{03}\u{01}\u{02}\u{00}",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func brokenClientsChangeNothing(bytes: String) async throws {
        try await withListener(requestTime: .seconds(3)) { _, visitor, wait in
            let answer = try await visitor.send(bytes)
            #expect(answer.text.isEmpty || answer.status >= 400, "\(answer.text)")
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
        }
    }

    @Test func hugeRequestsAreCutOff() async throws {
        try await withListener { _, visitor, wait in
            let long = String(repeating: "a", count: 300_000)
            for request in [
                "GET /callback?code=\(long) HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nX: \(long)\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n\(long)",
            ] {
                let answer = try await visitor.send(request)
                #expect(answer.text.isEmpty || answer.status >= 400)
            }
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
        }
    }

    @Test func slowClientsHoldNothingUp() async throws {
        try await withListener(requestTime: .milliseconds(400)) { _, visitor, wait in
            let slow = try (0..<8).map { _ in
                let connection = RawConnection(descriptor: try RawClient.open(UInt16(visitor.port))) { _ in }
                connection.write("GET /callback?code=x&state=ri")
                return connection
            }
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
            for connection in slow {
                connection.waitForPeer()
                connection.close()
            }
        }
    }

    @Test func connectionsAreFew() async throws {
        try await withListener { _, visitor, wait in
            let idle = try (0..<100).map { _ in
                RawConnection(descriptor: try RawClient.open(UInt16(visitor.port))) { _ in }
            }
            defer { idle.forEach { $0.close() } }
            // Those over the limit are closed at once.
            idle[99].waitForPeer()
            #expect(!wait.isCancelled)
        }
    }

    @Test func cancellationEndsTheWaitAndThePort() async throws {
        try await withListener { listener, visitor, wait in
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
            let late = try await visitor.get("/callback?code=x&state=right")
            #expect(late.status == 410)
            await listener.close()
            #expect(throws: RawServerError.self) { try RawClient.connect(to: UInt16(visitor.port)) }
        }
    }

    @Test func finishWithoutABrowserDoesNotWait() async throws {
        try await withListener { listener, _, wait in
            let clock = ContinuousClock()
            let time = await clock.measure { await listener.finish(showing: .done, timeLimit: .seconds(3_000)) }
            #expect(time < .seconds(300))
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
    }

    @Test func finishingWaitsOnlyBrieflyForTheBrowser() async throws {
        try await withListener { listener, visitor, wait in
            #expect(try await visitor.get("/callback?code=x&state=right").status == 303)
            _ = try await wait.value
            let time = await ContinuousClock().measure {
                await listener.finish(showing: .done, timeLimit: .milliseconds(200))
            }
            #expect(time >= .milliseconds(150) && time < .seconds(300))
        }
    }

    @Test func fixedPortIsTakenOnceAndFreeAfterwards() async throws {
        let first = try await LoopbackRedirectListener.start(at: .standard)
        let uri = LoopbackRedirectURI.standard.at(port: first.port)
        await #expect(throws: LoopbackRedirectError.portTaken) { try await LoopbackRedirectListener.start(at: uri) }
        await first.close()
        let second = try await LoopbackRedirectListener.start(at: uri)
        #expect(second.port == first.port)
        await second.close()
    }

    @Test func listensOnLoopbackOnly() async throws {
        try await withListener { listener, _, _ in
            let table = try #require(FileLines.read("/proc/net/tcp"))
            let port = String(listener.port, radix: 16, uppercase: true)
            let suffix = ":" + String(repeating: "0", count: 4 - port.count) + port
            let sockets: [[Substring]] = table.map { $0.split(separator: " ") }
            let listening: [[Substring]] = sockets.filter { $0.count > 3 && $0[3] == "0A" }
            let locals: [String] = listening.map { String($0[1]) }.filter { $0.hasSuffix(suffix) }
            #expect(locals == ["0100007F" + suffix])
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1/callback", "http://127.0.0.1:7/callback"), ("http://127.0.0.1", "http://127.0.0.1:7"),
        ("http://127.0.0.1:8080/a/b", "http://127.0.0.1:7/a/b"), ("http://[::1]/callback", "http://[::1]:7/callback"),
        ("http://localhost:3000/cb", "http://localhost:7/cb"), ("HTTP://LOCALHOST/", "http://localhost:7/"),
    ])
    func redirectURIsOfThisMachine(text: String, withPort: String) throws {
        let uri = try #require(LoopbackRedirectURI(text))
        #expect(uri.text(port: 7) == withPort)
    }

    @Test(arguments: [
        "", "https://127.0.0.1/callback", "http://127.0.0.1.evil.example/", "http://127.0.0.2/", "http://0.0.0.0/",
        "http://u@127.0.0.1/", "http://127.0.0.1@evil.example/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
        "http://127.0.0.1:/", "http://127.0.0.1:+1/", "http://127.0.0.1/?a=b", "http://127.0.0.1/#a",
        "http://127.0.0.1?x", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://localhost.evil.example/",
        "http://[::1].example/", "ftp://127.0.0.1/", "myapp:/callback", "http://app.example/callback",
    ])
    func otherRedirectURIs(text: String) {
        #expect(LoopbackRedirectURI(text) == nil)
    }

    @Test func wordsOfOthersStayWords() {
        let page = RedirectPage.refused("server_error", #"<img src=x onerror="a('&')">"#)
        let (_, html) = page.response(styleNonce: "n")
        #expect(html.contains("&lt;img src=x onerror=&quot;a(&#39;&amp;&#39;)&quot;&gt; (server_error)"))
        #expect(!html.contains("<img"))
    }
}

private enum FileLines {
    static func read(_ path: String) -> [Substring]? {
        guard let file = unsafe fopen(path, "r") else { return nil }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self).split(separator: "\n") }
            bytes += chunk[..<count]
        }
    }
}
