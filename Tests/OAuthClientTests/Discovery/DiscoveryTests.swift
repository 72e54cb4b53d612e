import HTTPTypes
import OAuthClient
import Testing

struct DiscoveryTests {
    private static let document = """
        {"issuer":"https://a.example/t1","token_endpoint":"https://a.example/t1/token",
        "authorization_endpoint":"https://a.example/authorize?tenant=1","revocation_endpoint":"https://a.example/revoke",
        "code_challenge_methods_supported":["S256"],"dpop_signing_alg_values_supported":["ES256","RS256"],
        "authorization_response_iss_parameter_supported":true,"unknown":{"x":[1,2]}}
        """

    private let issuer = "https://a.example/t1"

    private func metadata(_ transport: ScriptedTransport) async throws -> ServerMetadata {
        try await Discovery.metadata(issuer: try Issuer(issuer), transport: transport)
    }

    @Test func metadataIsReadFromRFC8414First() async throws {
        let transport = ScriptedTransport(reply(200, Self.document))
        let metadata = try await metadata(transport)
        #expect(metadata.tokenEndpoint.rawValue == "https://a.example/t1/token")
        #expect(metadata.revocationEndpoint?.rawValue == "https://a.example/revoke")
        #expect(metadata.introspectionEndpoint == nil)
        #expect(metadata.supportsPKCE)
        #expect(metadata.supportsDPoP)
        #expect(metadata.authorizationResponseIssParameterSupported)
        #expect(metadata.tokenEndpointAuthMethodsSupported == ["client_secret_basic"])
        #expect(transport.sent.map(\.request.path) == ["/.well-known/oauth-authorization-server/t1"])
        #expect(transport.sent.first?.request.method == .get)
    }

    @Test func openIDIsAskedIfRFC8414IsNotThere() async throws {
        let transport = ScriptedTransport(reply(404, "<html>"), reply(404), reply(200, Self.document))
        _ = try await metadata(transport)
        #expect(
            transport.sent.map(\.request.path) == [
                "/.well-known/oauth-authorization-server/t1", "/.well-known/openid-configuration/t1",
                "/t1/.well-known/openid-configuration",
            ])
        // Without a path, two of the places are one.
        let root = ScriptedTransport(reply(404), reply(404), reply(404))
        _ = try? await Discovery.metadata(issuer: try Issuer("https://a.example"), transport: root)
        #expect(
            root.sent.map(\.request.path) == [
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
            ])
    }

    /// A web app answers an unknown path with a page; others fail.
    @Test(arguments: [
        ScriptedTransport.Step.reply(reply(200, "<!doctype html>")), .reply(reply(200, "")), .reply(reply(500)),
        .reply(reply(429)), .reply(reply(301)), .failure(HTTPTransportError(.maybeSent, .tooLarge)),
    ])
    func openIDIsAskedWhateverStandsInTheFirstPlace(_ first: ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport([first, .reply(reply(200, Self.document))])
        #expect(try await metadata(transport).issuer.rawValue == issuer)
        #expect(transport.sent.count == 2)
    }

    @Test func aWrongDocumentIsNotPassedOver() async throws {
        let other = Self.document.replacing("\"https://a.example/t1\"", with: "\"https://evil.example\"")
        let transport = ScriptedTransport(reply(200, other), reply(200, Self.document))
        await #expect(throws: DiscoveryError(.issuerMismatch, named: "https://evil.example")) {
            try await metadata(transport)
        }
        #expect(transport.sent.count == 1)
    }

    @Test func whatIsOnlyTakenPushedIsRead() async throws {
        #expect(try await !metadata(ScriptedTransport(reply(200, Self.document))).requirePushedAuthorizationRequests)
        let strict = Self.document.replacing(
            "{\"issuer\"", with: #"{"require_pushed_authorization_requests":true,"issuer""#)
        #expect(try await metadata(ScriptedTransport(reply(200, strict))).requirePushedAuthorizationRequests)
    }

    @Test(arguments: ["https://a.example", "https://a.example/"])
    func aSlashAtTheEndIsNotDoubled(_ text: String) async throws {
        let transport = ScriptedTransport(reply(404), reply(404))
        await #expect(throws: DiscoveryError.self) {
            try await Discovery.metadata(issuer: try Issuer(text), transport: transport)
        }
        #expect(
            transport.sent.map(\.request.path)
                == ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"])
    }

    @Test(arguments: ["https://a.example/t1/", "https://A.example/t1", "https://b.example/t1", "https://a.example/T1"])
    func anotherIssuerIsRefusedToTheLetter(_ named: String) async throws {
        let other = Self.document.replacing("\"https://a.example/t1\"", with: "\"\(named)\"")
        await #expect(throws: DiscoveryError(.issuerMismatch, named: named)) {
            try await metadata(ScriptedTransport(reply(200, other)))
        }
    }

    @Test(arguments: [
        "http://a.example/revoke", "http://127.0.0.1/revoke", "http://localhost/revoke",
    ])
    func oneInsecureEndpointRefusesTheDocument(_ url: String) async throws {
        let document = Self.document.replacing("https://a.example/revoke", with: url)
        await #expect(
            throws: DiscoveryError(.insecureEndpoint, member: "revocation_endpoint", named: String(url.dropLast(7)))
        ) {
            try await metadata(ScriptedTransport(reply(200, document)))
        }
    }

    /// A log-in works without it: the document is read, and the member named.
    @Test(arguments: ["https://user:pw@a.example/", "https://a.example/#f", "//a.example", "7"])
    func anEndpointThatIsNoURLIsLeftOut(_ url: String) async throws {
        let document = Self.document.replacing("https://a.example/revoke", with: url)
        guard let metadata = try? await metadata(ScriptedTransport(reply(200, document))) else { return }
        #expect(metadata.revocationEndpoint == nil)
        #expect(metadata.unreadMembers == ["revocation_endpoint"])
    }

    @Test func anEmptyEndpointIsAbsent() async throws {
        let document = Self.document.replacing("https://a.example/revoke", with: "")
        let metadata = try await metadata(ScriptedTransport(reply(200, document)))
        #expect(metadata.revocationEndpoint == nil)
        #expect(metadata.unreadMembers.isEmpty)
    }

    @Test(arguments: ["token_endpoint", "authorization_endpoint", "jwks_uri"])
    func whatALogInNeedsIsStrict(_ member: String) {
        let document = #"{"issuer":"https://a.example/t1","token_endpoint":"https://a.example/token","\#(member)":7}"#
        #expect(throws: DiscoveryError.self) {
            try ServerMetadata(parsing: Array(document.utf8), issuer: try Issuer(issuer))
        }
    }

    @Test func oddMembersThatNobodyNeedsRefuseNothing() throws {
        let document = #"""
            {"issuer":"https://a.example/t1","token_endpoint":"https://a.example/token",
            "scopes_supported":{"a":1},"response_types_supported":"code","grant_types_supported":[1],
            "code_challenge_methods_supported":"S256"}
            """#
        let metadata = try ServerMetadata(parsing: Array(document.utf8), issuer: try Issuer(issuer))
        #expect(metadata.scopesSupported.isEmpty)
        #expect(metadata.responseTypesSupported == ["code"])
        #expect(metadata.supportsPKCE)
        #expect(
            metadata.unreadMembers == [
                "scopes_supported", "response_types_supported", "grant_types_supported",
                "code_challenge_methods_supported",
            ])
    }

    @Test func loopbackIsTakenWhereItWasAllowed() throws {
        let document = """
            {"issuer":"http://127.0.0.1:8080","token_endpoint":"http://localhost:8080/token",
            "jwks_uri":"http://[::1]:8080/jwks"}
            """
        let issuer = try Issuer("http://127.0.0.1:8080", allowsInsecureLoopback: true)
        let metadata = try ServerMetadata(
            parsing: Array(document.utf8), issuer: issuer, allowsInsecureLoopback: true)
        #expect(metadata.tokenEndpoint.isLoopback)
        let elsewhere = document.replacing("localhost", with: "127.0.0.1.example.com")
        #expect(throws: DiscoveryError.self) {
            try ServerMetadata(parsing: Array(elsewhere.utf8), issuer: issuer, allowsInsecureLoopback: true)
        }
        #expect(throws: OAuthValueError(.insecure, "issuer")) { try Issuer("http://127.0.0.1:8080") }
    }

    @Test func aMissingTokenEndpointIsNamed() {
        #expect(throws: DiscoveryError(.missingEndpoint, member: "token_endpoint")) {
            try ServerMetadata(
                parsing: Array(#"{"issuer":"https://a.example/t1"}"#.utf8), issuer: try Issuer(issuer))
        }
    }

    @Test(arguments: [
        "", "[]", "{}", "<html>", "{\"issuer\":7}", "{\"issuer\":\"https://a.example/t1\",\"issuer\":\"x\"}",
    ])
    func whatIsNoMetadataIsMalformed(_ document: String) {
        #expect(throws: DiscoveryError.self) {
            try ServerMetadata(parsing: Array(document.utf8), issuer: try Issuer(issuer))
        }
    }

    @Test func failuresAreToldApart() async throws {
        let error = HTTPTransportError(.notSent, .dns)
        await #expect(throws: DiscoveryError(.unreachable, transportError: error)) {
            try await metadata(ScriptedTransport([.failure(error)]))
        }
        await #expect(throws: DiscoveryError(.serverError, status: 503)) {
            try await metadata(ScriptedTransport(reply(503), reply(404), reply(404)))
        }
        for broken in [HTTPTransportError.Code.undecodable, .protocolViolation, .truncated] {
            let failure = HTTPTransportError(.maybeSent, broken)
            let error = await #expect(throws: DiscoveryError.self) {
                try await metadata(ScriptedTransport([.failure(failure), .reply(reply(404)), .reply(reply(404))]))
            }
            #expect(error?.code == .malformed)
            #expect(error?.description == "the metadata document cannot be read: \(broken.words)")
        }
        let tooLong = HTTPTransportError(.maybeSent, .tooLarge)
        await #expect(throws: DiscoveryError(.tooLarge, transportError: tooLong)) {
            try await metadata(ScriptedTransport([.failure(tooLong), .reply(reply(404)), .reply(reply(404))]))
        }
        await #expect(throws: DiscoveryError(.notFound)) {
            try await metadata(ScriptedTransport(reply(302), reply(404), reply(404)))
        }
    }
}
