import Crypto
import DevAuthorizationServer
import Foundation
import HTTPTypes
import OAuthClient
import RawSockets
import Synchronization
import Testing
import TokenVaultHTTP
import VaultControl

/// `vaultctl provider client-metadata`: a client that is registered nowhere.
struct ClientMetadataCommandTests {
    private static let redirectURI = "http://127.0.0.1:9/second"

    /// What is served at the client's id.
    private final class Site: Sendable {
        private final class Content: Sendable {
            let text = Mutex("")
        }

        private let content = Content()
        private let server: RawServer
        var id: String { "http://127.0.0.1:\(server.port)/oauth/client.json" }
        var requests: [String] { server.received }

        init() throws {
            let content = content
            server = try RawServer { connection in
                guard !connection.readRequest().isEmpty else { return }
                let text = content.text.withLock { $0 }
                _ = connection.write(
                    "HTTP/1.1 \(text.isEmpty ? "404 Not Found" : "200 OK")\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)")
            }
        }

        func serve(_ text: String) { content.text.withLock { $0 = text } }
    }

    /// The world with a client of a document, at a server that fetches it.
    private static func with(_ body: (World, Site) async throws -> Void) async throws {
        let site = try Site()
        try await World.with {
            $0.fetchClientDocument = { id in
                let transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true))
                let document = try? await EndpointURL(id, allowsInsecureLoopback: true).document(over: transport)
                await transport.shutdown()
                return document
            }
        } _: { world in
            let key = try world.harness.file("client.pem", P256.Signing.PrivateKey().pemRepresentation)
            try await world.ok(
                "provider", "add", "web", "--issuer", world.server.issuer, "--client-id", site.id,
                "--client-key-file", key, "--client-key-id", "one", "--dpop", "required", "--scope", "read",
                "--redirect-uri", redirectURI, "--allow-insecure-loopback")
            try await body(world, site)
        }
    }

    @Test func aClientThatIsRegisteredNowhereLogsInAndIsRenewed() async throws {
        try await Self.with { world, site in
            let begin = ["login", "begin", "--user", "alice", "--provider", "web"]
            let document = try await world.ok("provider", "client-metadata", "web", "--client-name", "App").output
            #expect(document.contains(#""dpop_bound_access_tokens": true"#), "\(document)")
            #expect(!document.contains("PRIVATE") && !document.contains(#""d""#))
            site.serve(document)
            try await world.complete(Browser.visit(world.ok(begin).line))
            try await world.ok("login", "refresh", "--user", "alice")
            #expect(!site.requests.isEmpty)
            #expect(site.requests.allSatisfy { $0.hasPrefix("GET /oauth/client.json HTTP/1.1\r\n") })
        }
    }

    @Test func whatIsServedIsCompared() async throws {
        try await Self.with { world, site in
            let (show, check) = (
                ["provider", "client-metadata", "web"], ["provider", "client-metadata", "web", "--check"]
            )
            let missing = try await world.harness.run(check)
            #expect(missing.status == 3 && missing.output.contains("is answered with 404"), "\(missing.output)")
            site.serve(try await world.ok(show).output)
            try await world.ok(check)
            // The key changes: a server that knows both takes either.
            let next = try world.harness.file("next.pem", P256.Signing.PrivateKey().pemRepresentation)
            let both = try await world.ok(show + ["--next-key-file", next, "--next-key-id", "two"]).output
            site.serve(both)
            try await world.ok(check)
            let update = ["provider", "update", "web", "--client-key-file", next, "--client-key-id", "two", "--yes"]
            try await world.ok(update)
            try await world.ok(check)
            site.serve(both.replacing(#""kid":"two""#, with: #""kid":"three""#))
            let other = try await world.harness.run(check + ["--json"])
            #expect(other.status == 3)
            let differences = try #require(other.json["differences"] as? [[String: Any]])
            #expect(differences.map { $0["member"] as? String } == ["jwks"])
        }
    }

    @Test func onlyAClientWithSuchAnIdHasADocument() async throws {
        try await World.with { world in
            let refused = try await world.fails(.usage, "provider", "client-metadata", "acme")
            #expect(refused.error.contains("this client's id is not the URL of a document"))
            let secret = try world.harness.file("secret", "CANARY-secret")
            try await world.ok(
                "provider", "add", "closed", "--issuer", world.server.issuer, "--client-id", "https://app.example/c",
                "--client-secret-file", secret, "--redirect-uri", Self.redirectURI, "--allow-insecure-loopback")
            let closed = try await world.fails(.usage, "provider", "client-metadata", "closed")
            #expect(closed.error.contains("which a document that everyone can read cannot say"))
            let port = try RawServer.unusedPort()
            try await world.ok(
                "provider", "update", "acme", "--client-id", "http://127.0.0.1:\(port)/c.json", "--yes")
            try await world.fails(.provider, "provider", "client-metadata", "acme", "--check")
        }
    }
}

extension EndpointURL {
    /// What is served here.
    fileprivate func document(over transport: AsyncHTTPTransport) async throws -> [UInt8]? {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: requestTarget)
        let reply = try await transport.send(request, body: [], limits: HTTPLimits())
        return reply.response.status == .ok ? reply.body : nil
    }
}
