import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

struct IntrospectionTests {
    private func introspect(_ step: ScriptedTransport.Step) async throws -> (IntrospectionOutcome, ScriptedTransport) {
        let transport = ScriptedTransport([step])
        let endpoint = IntrospectionEndpoint(
            endpoint: try Sample.endpoint("https://server.example.com/introspect"),
            binding: try Sample.binding(.clientSecretPost(ClientSecret("secret-CANARY"))), transport: transport,
            now: { Sample.start })
        return (await endpoint.introspect(try AccessToken(Sample.access)), transport)
    }

    @Test(arguments: [
        (200, #"{"active":true,"exp":1700007200}"#, IntrospectionOutcome.active(expiresAt: Sample.start + 7_200)),
        (200, #"{"active":true,"exp":"1700007200"}"#, .active(expiresAt: Sample.start + 7_200)),
        (200, #"{"active":true}"#, .active(expiresAt: nil)),
        (200, #"{"active":true,"exp":0}"#, .active(expiresAt: nil)),
        (200, #"{"active":true,"exp":-5}"#, .active(expiresAt: nil)),
        (200, #"{"active":true,"exp":1e300}"#, .active(expiresAt: nil)),
        (200, #"{"active":true,"exp":"soon"}"#, .active(expiresAt: nil)),
        (200, #"{"active":false}"#, .inactive),
        (200, #"{"active":"true"}"#, .unknown), (200, "", .unknown), (200, "<html>", .unknown),
        (401, #"{"error":"invalid_client"}"#, .unknown), (403, #"{"active":true,"exp":1700007200}"#, .unknown),
        (500, "", .unknown), (302, "", .unknown),
    ])
    func whatAServerSaysOfAToken(_ status: Int, _ body: String, _ expected: IntrospectionOutcome) async throws {
        let (outcome, transport) = try await introspect(.reply(reply(status, body)))
        #expect(outcome == expected)
        let sent = try #require(transport.sent.first)
        #expect(sent.request.path == "/introspect")
        #expect(
            sent.form == [
                "token": Sample.access, "token_type_hint": "access_token", "client_id": "client",
                "client_secret": "secret-CANARY",
            ])
    }

    @Test func noReplyIsNoAnswer() async throws {
        let (outcome, _) = try await introspect(.failure(HTTPTransportError(.maybeSent, .reset)))
        #expect(outcome == .unknown)
    }
}
