import Crypto
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// The document of a client whose id is a URL.
struct ClientMetadataDocumentTests {
    private static let id = "https://app.example/oauth/client-metadata.json"

    private static let key = P256.Signing.PrivateKey().pemRepresentation
    private static let nextKey = P256.Signing.PrivateKey().pemRepresentation

    private static func jwks(_ keys: (pem: String, id: String)...) throws -> String {
        ClientAssertionKey.jwks(of: try keys.map { try ClientAssertionKey(pem: $0.pem, keyID: $0.id) })
    }

    private static func metadata(_ change: (inout ClientMetadata) throws -> Void = { _ in }) throws -> ClientMetadata {
        var metadata = ClientMetadata(
            redirectURIs: [try RedirectURI("https://app.example/callback")], tokenEndpointAuthMethod: "private_key_jwt",
            clientName: "App", scope: try Scope("read offline_access"))
        metadata.jwks = try jwks((key, "one"))
        metadata.tokenEndpointAuthSigningAlg = "ES256"
        metadata.dpopBoundAccessTokens = true
        try change(&metadata)
        return metadata
    }

    private static func document(_ change: (inout ClientMetadata) throws -> Void = { _ in }) throws
        -> ClientMetadataDocument
    {
        try #require(ClientMetadataDocument(clientID: ClientID(id), metadata(change)))
    }

    @Test func whatIsPrintedIsWhatIsWanted() throws {
        let document = try Self.document()
        #expect(document.differences(in: Array(document.text.utf8)).isEmpty)
        let object = try JSONObject(document: Array(document.text.utf8))
        #expect(object.names.first == "client_id")
        #expect(Set(object.names).count == object.names.count)
        guard case .string("web")? = object["application_type"], case .bool(true)? = object["dpop_bound_access_tokens"],
            case .object? = object["jwks"]
        else {
            Issue.record("\(document.text)")
            return
        }
        #expect(!document.text.contains("client_secret") && !document.text.contains("\"d\""))
        #expect(document.text.utf8.count < 5_000)
    }

    @Test(arguments: [
        ("https://app.example/oauth/client-metadata.json", true), ("https://app.example/client?v=1", true),
        ("https://app.example:8443/c", true), ("https://app.example/", false), ("https://app.example", false),
        ("http://app.example/client.json", false), ("https://app.example/a/../client.json", false),
        ("https://app.example/./client.json", false), ("https://app.example/client.json#x", false),
        ("https://user@app.example/client.json", false), ("client-7", false), ("did:web:app.example", false),
    ])
    func onlySomeURLsCanHaveADocument(_ id: String, _ isOne: Bool) throws {
        #expect((ClientMetadataDocument(clientID: try ClientID(id), try Self.metadata()) != nil) == isOne)
    }

    /// Each member that a server would act on in another way than this client expects.
    @Test(arguments: [
        (#""client_id": "\#(id)""#, #""client_id": "\#(id)/""#, "client_id"),
        (#""client_id": "\#(id)""#, #""client_id": "HTTPS://app.example/oauth/client-metadata.json""#, "client_id"),
        (#""client_name""#, #""client_secret": "x", "client_name""#, "client_secret"),
        (#"signing_alg": "ES256""#, #"signing_alg": "none""#, "token_endpoint_auth_signing_alg"),
        (#""private_key_jwt""#, #""none""#, "token_endpoint_auth_method"),
        (#""private_key_jwt""#, #""client_secret_post""#, "token_endpoint_auth_method"),
        ("https://app.example/callback", "https://app.example/other", "redirect_uris"),
        (#","refresh_token""#, "", "grant_types"), (#"["code"]"#, #"["token"]"#, "response_types"),
        ("offline_access", "write", "scope"),
        ("_bound_access_tokens\": true", "_bound_access_tokens\": false", "dpop_bound_access_tokens"),
        (#""kid":"one""#, #""kid":"two""#, "jwks"), (#""x":""#, #""x":"A"#, "jwks"), (#""jwks""#, #""keys""#, "jwks"),
    ])
    func whatAServerWouldSeeDifferentlyIsNamed(_ part: String, _ other: String, _ member: String) throws {
        let document = try Self.document()
        #expect(document.text.contains(part))
        let found = document.differences(in: Array(document.text.replacing(part, with: other).utf8))
        #expect(found.map(\.member) == [member])
    }

    @Test func aFurtherKeyOrURIIsNoDifference() throws {
        let document = try Self.document()
        let served = try Self.document { metadata in
            metadata.jwks = try Self.jwks((Self.nextKey, "two"), (Self.key, "one"))
            metadata.redirectURIs.append(try RedirectURI("https://app.example/second"))
        }
        #expect(document.differences(in: Array(served.text.utf8)).isEmpty)
        // The other way round, a server would not know the second.
        #expect(served.differences(in: Array(document.text.utf8)).map(\.member) == ["redirect_uris", "jwks"])
    }

    @Test func whatIsFetchedMustBeTheDocumentItself() async throws {
        let document = try Self.document()
        let text = document.text
        let json = [("Content-Type", "application/json")]
        let cases: [(HTTPReply, String?)] = [
            (reply(200, text, json), nil),
            (reply(200, text, [("Content-Type", "application/x+json; charset=utf-8")]), nil),
            (reply(200, text, [("Content-Type", "text/html")]), "is not served as application/json"),
            (reply(302, "", [("Location", "https://app.example/x")]), "is a redirect (302), which no server follows"),
            (reply(404, text, json), "is answered with 404"), (reply(200, "<html>", json), "is not a JSON object"),
            (reply(200, text + String(repeating: " ", count: 5_000), json), "is longer than 5000 bytes"),
        ]
        for (reply, words) in cases {
            let transport = ScriptedTransport(reply)
            let found = try await document.differencesAtURL(over: transport)
            #expect(found.map(\.words) == (words.map { [$0] } ?? []))
            let request = try #require(transport.sent.first).request
            #expect(request.method == .get && request.path == "/oauth/client-metadata.json")
            #expect(request.authority == "app.example" && request.headerFields[.authorization] == nil)
        }
    }
}
