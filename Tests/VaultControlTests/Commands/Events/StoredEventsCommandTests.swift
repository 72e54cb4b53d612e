import Crypto
import Foundation
import RawSockets
import Synchronization
import Testing
import VaultControl

/// Events that are taken to a program or a server, at least once.
struct StoredEventsCommandTests {
    private static func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private static func filled() async throws -> (harness: Harness, login: String) {
        let harness = try Harness()
        try await harness.run("init")
        let login = try await harness.run(
            "login", "add", "--user", "alice", "--access-token", "-", input: "CANARY-1"
        ).line
        return (harness, login)
    }

    private static func update(_ harness: Harness, _ login: String) async throws {
        let result = try await harness.run(["token", "update", login, "--access-token", "-"], input: "CANARY-next")
        #expect(result.status == 0, "\(result.error)")
    }

    @Test func aCursorGoesOnWhereItWasLeft() async throws {
        let (harness, login) = try await Self.filled()
        let first = try Self.lines(try await harness.run("events", "--after", "start", "--json").output)
        #expect(first.map { $0["event"] as? String } == ["stateChanged"])
        let cursor = try #require(first.last?["cursor"] as? String)
        #expect(try await harness.run("events", "--after", cursor, "--json").output.isEmpty)
        #expect(try await harness.run("events", "--after", "now", "--json").output.isEmpty)
        try await Self.update(harness, login)
        let next = try Self.lines(try await harness.run("events", "--after", cursor, "--json").output)
        #expect(next.map { $0["event"] as? String } == ["updated"])
        let none = try await harness.run("events", "--after", "start", "--event", "refreshFailed")
        #expect(none.output.isEmpty && none.status == 0)
    }

    /// The user is named as everywhere, and the tenant is a member of its own.
    @Test func anEventOfATenantNamesIt() async throws {
        let (harness, login) = try await Self.filled()
        let other = try await harness.run(
            "login", "add", "--tenant", "contoso", "--user", "alice", "--access-token", "-", input: "CANARY-2"
        ).line
        let all = try Self.lines(try await harness.run("events", "--after", "start", "--json").output)
        #expect(all.map { $0["login"] as? String } == [login, other])
        #expect(all.map { $0["user"] as? String } == ["alice", "\u{1D}contoso\u{1D}alice"])
        #expect(all.map { $0["tenant"] as? String } == [nil, "contoso"])
        #expect(all.allSatisfy { $0.keys.contains("tenant") })
        let text = try await harness.run("events", "--after", "start").output
        #expect(text.contains("\tcontoso/alice\t") && text.contains("\talice\t"), "\(text)")
    }

    @Test func theCursorFileIsKept() async throws {
        let (harness, login) = try await Self.filled()
        let file = harness.path("cursor")
        let options = ["events", "--cursor-file", file, "--json"]
        // Without a place it begins with what is new, and remembers that.
        #expect(try await harness.run(options).output.isEmpty)
        try await Self.update(harness, login)
        #expect(try Self.lines(try await harness.run(options).output).map { $0["event"] as? String } == ["updated"])
        #expect(try await harness.run(options).output.isEmpty)
        try harness.file("cursor", "nonsense")
        #expect(try await harness.run(options).status == 1)
    }

    @Test func aProgramGetsEachEventUntilItTakesIt() async throws {
        let (harness, login) = try await Self.filled()
        try await Self.update(harness, login)
        let script = try harness.file(
            "on-event",
            """
            #!/bin/sh
            dir=$(dirname "$0")
            [ -e "$dir/ready" ] || { : >"$dir/ready"; exit 1; }
            echo "$1" >>"$dir/told"
            cat >>"$dir/told"; echo >>"$dir/told"
            """, mode: 0o700)
        let file = harness.path("cursor")
        let result = try await harness.run(
            "events", "--after", "start", "--cursor-file", file, "--exec", #"["\#(script)"]"#, "--event", "updated",
            "--event", "stateChanged")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.error.contains("the event was not delivered"))
        #expect(result.output.isEmpty)
        let told = try String(contentsOfFile: harness.path("told"), encoding: .utf8).split(separator: "\n")
        #expect(told.map(String.init).filter { !$0.hasPrefix("{") } == ["stateChanged", "updated"])
        #expect(told.count { $0.contains(login) } == 2)
    }

    @Test func aServerGetsSignedRequestsInOrder() async throws {
        let (harness, login) = try await Self.filled()
        try await Self.update(harness, login)
        let refusals = Mutex(1)
        let server = try RawServer { connection in
            while true {
                guard !connection.readRequest().isEmpty else { return }
                let refuses = refusals.withLock { left in
                    left -= 1
                    return left >= 0
                }
                let status = refuses ? "503 Busy" : "204 Done"
                guard connection.write("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n") else { return }
            }
        }
        let key = try harness.file("hook.key", "CANARY-0123456789abcdef\n")
        let url = "http://127.0.0.1:\(server.port)/hooks"
        let options = [
            "events", "--cursor-file", harness.path("cursor"), "--post", url, "--event", "updated", "--event",
            "stateChanged",
        ]
        #expect(try await harness.run(options).status == 1)
        #expect(server.connections == 0)
        let result = try await harness.run(options + ["--after", "start", "--signing-key-file", key])
        #expect(result.status == 0, "\(result.error)")
        let requests = server.received.filter { !$0.isEmpty }
        try #require(requests.count == 3)
        #expect(requests[0].contains("stateChanged") && requests[1].contains("stateChanged"))
        for request in requests {
            let parts = request.components(separatedBy: "\r\n\r\n")
            let head = parts[0].components(separatedBy: "\r\n")
            #expect(head[0] == "POST /hooks HTTP/1.1")
            let signature = try #require(head.first { $0.lowercased().hasPrefix("tokenvault-signature: ") })
            let fields = signature.dropFirst("tokenvault-signature: ".count).split(separator: ",")
            let time = try #require(fields.first?.dropFirst(2))
            let code = HMAC<SHA256>.authenticationCode(
                for: Data("\(time).\(parts[1])".utf8),
                using: SymmetricKey(data: Data("CANARY-0123456789abcdef".utf8)))
            #expect(fields.last == "v1=\(code.map { String(format: "%02x", $0) }.joined())")
            #expect(!request.contains("CANARY-"))
        }
        #expect(requests[2].contains("tokenvault-event: updated") || requests[2].contains("TokenVault-Event: updated"))
        #expect(try await harness.run(options + ["--signing-key-file", key]).status == 0)
        #expect(server.received.filter { !$0.isEmpty }.count == 3)
    }

    @Test func whatCannotBeMeantIsRefused() async throws {
        let (harness, _) = try await Self.filled()
        let key = try harness.file("short.key", "short\n")
        for options in [
            ["--after", "x"], ["--after", "start", "--last", "3"], ["--exec", "true"], ["--exec", "[]"],
            ["--exec", #"["true"]"#], ["--post", "http://app.example/hooks"], ["--post", "https://app.example/"],
            ["--post", "https://app.example/", "--signing-key-file", key], ["--signing-key-file", key],
            ["--event", "birthday"], ["--exec", #"["/bin/true"]"#, "--post", "https://app.example/"],
        ] {
            let result = try await harness.run(["events"] + options)
            #expect(result.status == 1, "\(options): \(result.error)")
        }
    }
}
