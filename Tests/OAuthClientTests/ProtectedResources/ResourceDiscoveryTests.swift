import HTTPTypes
import OAuthClient
import Testing

struct ResourceDiscoveryTests {
    private static let document =
        #"{"resource":"https://api.example/mcp","authorization_servers":["https://a.example"],"scopes_supported":["read","write"]}"#
    private static let rootDocument =
        #"{"resource":"https://api.example","authorization_servers":["https://a.example"]}"#

    private func metadata(
        _ transport: ScriptedTransport, at place: String? = nil, of resource: String = "https://api.example/mcp"
    ) async throws -> ResourceMetadata {
        var challenge = ResourceDiscovery.Challenge()
        challenge.metadata = place
        return try await ResourceDiscovery.metadata(
            of: try ResourceIdentifier(resource), challenge, transport: transport, allowsInsecureLoopback: false)
    }

    private func targets(_ transport: ScriptedTransport) -> [String] {
        transport.sent.map { "\($0.request.authority ?? "")\($0.request.path ?? "")" }
    }

    @Test func theChallengesPlaceIsTheOnlyOne() async throws {
        let transport = ScriptedTransport(reply(200, Self.document))
        let found = try await metadata(transport, at: "https://api.example/meta?x=1")
        #expect(found.authorizationServers.map(\.rawValue) == ["https://a.example"])
        #expect(found.scopesSupported == ["read", "write"] && !found.requiresDPoP)
        #expect(targets(transport) == ["api.example/meta?x=1"])
        #expect(transport.sent.allSatisfy { $0.limits.bodyBytes == 65_536 && $0.limits.timeout == .seconds(10) })
        let missing = ScriptedTransport(reply(404), reply(200, Self.document))
        await #expect(throws: ResourceError.self) { try await metadata(missing, at: "https://api.example/meta") }
        #expect(missing.sent.count == 1)
    }

    @Test func theWellKnownPlacesComeInTheirOrder() async throws {
        let transport = ScriptedTransport(reply(404), reply(200, Self.rootDocument))
        let found = try await metadata(transport)
        #expect(found.resource.rawValue == "https://api.example")
        #expect(
            targets(transport) == [
                "api.example/.well-known/oauth-protected-resource/mcp",
                "api.example/.well-known/oauth-protected-resource",
            ])
        let root = ScriptedTransport(reply(404))
        await #expect(throws: ResourceError.self) { try await metadata(root, of: "https://api.example/") }
        #expect(targets(root) == ["api.example/.well-known/oauth-protected-resource"])
    }

    /// Who answers for a part of an origin cannot speak for more of it, or a token for all would go to that part.
    @Test func onlyAWellKnownPlaceSpeaksForMoreThanTheRequest() async throws {
        let wellKnown = "https://api.example/.well-known/oauth-protected-resource"
        let below = "https://api.example/mcp/tools"
        let good = ScriptedTransport(reply(200, Self.document))
        #expect(
            try await metadata(good, at: wellKnown + "/mcp", of: below).resource.rawValue == "https://api.example/mcp")
        let root = ScriptedTransport(reply(200, Self.rootDocument))
        #expect(try await metadata(root, at: wellKnown, of: below).resource.rawValue == "https://api.example")
        let others = [
            "https://api.example/mcp/meta", wellKnown + "/mcp?x=1", wellKnown + "/other", wellKnown + "2/mcp",
            "https://b.example/.well-known/oauth-protected-resource/mcp",
        ]
        for (place, document) in others.flatMap({ [($0, Self.document), ($0, Self.rootDocument)] }) {
            let transport = ScriptedTransport(reply(200, document))
            let error = await #expect(throws: ResourceError.self) {
                try await metadata(transport, at: place, of: below)
            }
            #expect(error?.code == .otherResource, "\(place)")
        }
    }

    /// Each is final: what a resource says wrongly at its own place is not looked for elsewhere.
    @Test(arguments: [
        (
            200, #"{"resource":"https://evil.example/mcp","authorization_servers":["https://a.example"]}"#,
            ResourceError.Code.otherResource
        ),
        (
            200, #"{"resource":"https://api.example/mcp2","authorization_servers":["https://a.example"]}"#,
            .otherResource
        ),
        (200, #"{"authorization_servers":["https://a.example"]}"#, .nameless),
        (200, #"{"resource":"https://api.example/mcp"}"#, .noServer),
        (200, #"{"resource":"https://api.example/mcp","authorization_servers":[]}"#, .noServer),
        (200, #"{"resource":"https://api.example/mcp","authorization_servers":["http://a.example"]}"#, .malformed),
        (200, #"{"resource":"https://api.example/mcp","authorization_servers":"https://a.example"}"#, .noServer),
        (
            200,
            #"{"resource":"https://api.example/mcp","authorization_servers":["https://a.example"],"bearer_methods_supported":["query"]}"#,
            .noHeader
        ),
        (200, "<html>", .malformed), (302, "", .redirected), (307, "", .redirected), (500, "", .unreachable),
    ])
    func aDocumentThatIsNotGoodIsRefused(_ status: Int, _ body: String, _ code: ResourceError.Code) async throws {
        let transport = ScriptedTransport(
            reply(status, body, [("Location", "https://evil.example/")]), reply(200, Self.document))
        let error = await #expect(throws: ResourceError.self) { try await metadata(transport) }
        #expect(error?.code == code)
        #expect(transport.sent.count == 1)
    }

    @Test(arguments: [
        "http://api.example/meta", "http://127.0.0.1/meta", "file:///etc/passwd", "/meta", "https://u:p@api.example/",
    ])
    func aPlaceThatIsNotSafeIsNotAsked(_ place: String) async throws {
        let transport = ScriptedTransport(reply(200, Self.document))
        let error = await #expect(throws: ResourceError.self) { try await metadata(transport, at: place) }
        #expect(error?.code == .insecure)
        #expect(transport.sent.isEmpty)
    }

    @Test func theChallengeIsThatOfATokenScheme() throws {
        var response = HTTPResponse(status: .unauthorized)
        response.headerFields[.wwwAuthenticate] =
            #"Basic realm="x", resource_metadata="https://no.example", Bearer resource_metadata="https://api.example/m", scope="a b""#
        let challenge = ResourceDiscovery.Challenge(response)
        #expect(challenge.metadata == "https://api.example/m")
        #expect(challenge.scope?.tokens == ["a", "b"])
        #expect(ResourceDiscovery.Challenge(HTTPResponse(status: .unauthorized)) == ResourceDiscovery.Challenge())
    }

    @Test func theResourceIsAskedWithoutAToken() async throws {
        let resource = try ResourceIdentifier("https://api.example/mcp?x=1")
        let open = ScriptedTransport(reply(200, "[]", [("WWW-Authenticate", #"Bearer scope="x""#)]))
        #expect(try await ResourceDiscovery.challenge(of: resource, transport: open) == ResourceDiscovery.Challenge())
        let guarded = ScriptedTransport(reply(401, "", [("WWW-Authenticate", #"DPoP scope="x""#)]))
        #expect(try await ResourceDiscovery.challenge(of: resource, transport: guarded).scope?.description == "x")
        #expect(guarded.sent.allSatisfy { $0.request.headerFields[.authorization] == nil && $0.body.isEmpty })
        #expect(guarded.sent.map(\.request.path) == ["/mcp?x=1"])
        let slow = ScriptedTransport([.failure(HTTPTransportError(.maybeSent, .timeout))])
        #expect(try await ResourceDiscovery.challenge(of: resource, transport: slow) == ResourceDiscovery.Challenge())
        let gone = ScriptedTransport([.failure(HTTPTransportError(.notSent, .dns))])
        await #expect(throws: ResourceError.self) {
            try await ResourceDiscovery.challenge(of: resource, transport: gone)
        }
    }
}
