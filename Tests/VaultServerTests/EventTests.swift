import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultServer

struct EventTests {
    /// Reads a stream until the text has come, or its end.
    private static func read(
        _ client: Client, _ path: String, _ headers: [(String, String)] = [], until end: String
    ) async throws -> String {
        let response = try await client.stream(path, headers)
        #expect(response.status == .ok)
        var text = ""
        for try await part in response.body {
            text += String(buffer: part)
            if text.contains(end) { break }
        }
        return text
    }

    @Test func eventsComeWithAnIdAndGoOnBehindIt() async throws {
        let world = try await World()
        _ = try await world.addLogin()
        _ = try await world.addLogin("bob")
        try await world.serve { client in
            let first = try await Self.read(client, "/v1/events?after=start", until: "\"bob\"")
            #expect(first.contains("\"user\":\"alice\""))
            let ids = first.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
            let begin = try #require(ids.first)
            let rest = try await Self.read(
                client, "/v1/events", [("Last-Event-ID", begin)], until: "\"bob\"")
            #expect(!rest.contains("id: \(begin)\nevent"))
            try await #expect(client.send("GET", "/v1/events?after=x").status == 400)
        }
    }

    @Test func eventsOfOthersArePassedOver() async throws {
        let world = try await World(
            """
            verbs = ["events"]
            users = ["alice", "carol"]
            providers = ["acme"]
            """)
        for user in ["bob", "alice", "mallory", "carol"] { _ = try await world.addLogin(user) }
        try await world.serve { client in
            let text = try await Self.read(client, "/v1/events?after=start", until: "\"carol\"")
            #expect(text.contains("\"alice\""))
            #expect(!text.contains("\"bob\"") && !text.contains("mallory"))
        }
    }

    @Test func aStreamEndsWithTheServer() async throws {
        let world = try await World()
        let text = Box("")
        let client = Client(world.path)
        try await world.serve { _ in
            let response = try await client.stream("/v1/events")
            var parts = response.body.makeAsyncIterator()
            try await #expect(parts.next() != nil)
            world.stop()
            while let part = try await parts.next() { text.value += String(buffer: part) }
        }
        try await client.end()
        #expect(text.value.hasSuffix("event: end\ndata: {}\n\n"))
    }
}
