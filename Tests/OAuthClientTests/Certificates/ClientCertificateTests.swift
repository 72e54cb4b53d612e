import Crypto
import CryptoExtras
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Synchronization
import Testing
import TestCertificates

struct ClientCertificateTests {
    private static func value(_ made: TestCertificate) throws -> ClientCertificate {
        try ClientCertificate(chainPEM: made.pem, keyPEM: made.keyPEM)
    }

    @Test func aCertificateWithItsKeyTellsWhatItIs() throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let end = Date(timeIntervalSince1970: 1_900_000_001)
        let made = try TestCertificate("app", validity: start...end)
        let certificate = try Self.value(made)
        #expect(certificate.notValidBefore == start)
        #expect(certificate.notValidAfter == end)
        #expect(certificate.isSelfSigned)
        #expect(certificate.thumbprint == Base64URL.encode(SHA256.hash(data: try made.der)))
        #expect(ClientCertificate.isSelfSigned(chainPEM: made.pem) == true)
        // Through the vault's cell and back.
        let again = try ClientCertificate(chainPEM: certificate.chainPEM, keyPEM: certificate.revealKeyPEM())
        #expect(again == certificate)
        #expect(again.thumbprint == certificate.thumbprint)
    }

    /// After 2049 the year has four digits (RFC 5280 §4.1.2.5).
    @Test(arguments: [2_524_607_999.0, 2_524_608_000, 4_102_444_800, -1, 946_684_800])
    func theEndIsReadInBothSpellings(_ seconds: Double) throws {
        let end = Date(timeIntervalSince1970: seconds)
        let made = try TestCertificate("app", validity: Date(timeIntervalSince1970: -86_400)...end)
        #expect(try Self.value(made).notValidAfter == end)
    }

    @Test func aChainBeginsWithTheClientsOwn() throws {
        let authority = try TestCertificate("authority")
        let made = try TestCertificate("app", signedBy: authority)
        let certificate = try ClientCertificate(chainPEM: made.pem + "\n" + authority.pem, keyPEM: made.keyPEM)
        #expect(!certificate.isSelfSigned)
        #expect(certificate.chain.count == 2)
        #expect(certificate.thumbprint == (try Self.value(made)).thumbprint)
        #expect(certificate != (try Self.value(made)))
        #expect(throws: OAuthValueError(.mismatched, "key of the client certificate")) {
            try ClientCertificate(chainPEM: authority.pem + "\n" + made.pem, keyPEM: made.keyPEM)
        }
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let (one, other) = (try TestCertificate("app"), try TestCertificate("app"))
        #expect(throws: OAuthValueError(.mismatched, "key of the client certificate")) {
            try ClientCertificate(chainPEM: one.pem, keyPEM: other.keyPEM)
        }
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        #expect(throws: OAuthValueError(.mismatched, "key of the client certificate")) {
            try ClientCertificate(chainPEM: one.pem, keyPEM: rsa.pemRepresentation)
        }
    }

    @Test func whatIsNoCertificateIsRefused() throws {
        let made = try TestCertificate("app")
        for chain in ["", "text", made.keyPEM, made.pem + made.keyPEM, String(repeating: made.pem + "\n", count: 9)] {
            #expect(throws: OAuthValueError(.malformed, "client certificate")) {
                try ClientCertificate(chainPEM: chain, keyPEM: made.keyPEM)
            }
        }
        for key in ["", "text", made.pem, made.keyPEM + "\n" + made.keyPEM] {
            #expect(throws: OAuthValueError(.malformed, "key of the client certificate")) {
                try ClientCertificate(chainPEM: made.pem, keyPEM: key)
            }
        }
        #expect(throws: OAuthValueError(.tooLong, "client certificate")) {
            try ClientCertificate(chainPEM: String(repeating: "x", count: 65_537), keyPEM: made.keyPEM)
        }
    }

    /// Cut short or with a byte changed, it is refused or read, and nothing worse.
    @Test func damagedBytesAreRefused() throws {
        let made = try TestCertificate("app")
        let der = try made.der
        for length in 0..<der.count {
            let text = PEM.text(Array(der.prefix(length)))
            #expect(throws: OAuthValueError.self) { try ClientCertificate(chainPEM: text, keyPEM: made.keyPEM) }
        }
        for index in der.indices {
            var bytes = der
            bytes[index] ^= 0xFF
            _ = try? ClientCertificate(chainPEM: PEM.text(bytes), keyPEM: made.keyPEM)
        }
        #expect(throws: OAuthValueError.self) {
            try ClientCertificate(chainPEM: PEM.text(der + [0]), keyPEM: made.keyPEM)
        }
    }

    @Test func noRenderingShowsTheKey() throws {
        let made = try TestCertificate("app")
        let certificate = try Self.value(made)
        let secret = made.keyPEM.split(separator: "\n")[1]
        for text in [
            "\(certificate)", String(reflecting: certificate), "\(ClientAuthentication.tlsClientAuth(certificate))",
        ] {
            #expect(!text.contains(secret))
        }
        var dumped = ""
        dump(certificate, to: &dumped)
        #expect(!dumped.contains(secret))
    }

    @Test(arguments: [true, false])
    func requestNamesTheClientAndCarriesTheCertificate(isSelfSigned: Bool) async throws {
        let certificate = try Self.value(TestCertificate("app"))
        let transport = ShowingTransport()
        let endpoint = try Self.endpoint(
            isSelfSigned ? .selfSignedTLSClientAuth(certificate) : .tlsClientAuth(certificate), transport)
        _ = await endpoint.refresh(
            RefreshRequest(refreshToken: try RefreshToken("rt")), context: ClassificationContext())
        #expect(transport.shown == [certificate])
        #expect(transport.bodies == ["grant_type=refresh_token&refresh_token=rt&client_id=app"])
    }

    /// A token may be bound though the client proves itself otherwise.
    @Test func aCertificateForTokensIsShownBesideAnotherMethod() async throws {
        let certificate = try Self.value(TestCertificate("app"))
        let transport = ShowingTransport()
        var binding = try Self.binding(.clientSecretPost(ClientSecret("secret")))
        binding.tokenCertificate = certificate
        let endpoint = TokenEndpoint(binding: binding, transport: transport, now: { .now })
        _ = await endpoint.clientCredentials()
        #expect(transport.shown == [certificate])
    }

    /// A transport of an app's own knows nothing of certificates: nothing goes out without one.
    @Test func aTransportThatCannotShowItSendsNothing() async throws {
        let transport = ScriptedTransport()
        let authentication = ClientAuthentication.tlsClientAuth(try Self.value(TestCertificate("app")))
        let endpoint = try Self.endpoint(authentication, transport)
        let attempt = await endpoint.refresh(
            RefreshRequest(refreshToken: try RefreshToken("rt")), context: ClassificationContext())
        #expect(attempt.outcome == .transient(TransientFailure(.notSent(.noClientCertificate))))
        #expect(transport.sent.isEmpty)
        let revocation = RevocationEndpoint(
            endpoint: try EndpointURL("https://as.example/revoke"), binding: try Self.binding(authentication),
            transport: transport, now: { .now })
        #expect(await revocation.revoke(.refresh(try RefreshToken("rt"))).outcome == .tryLater(retryAfter: nil))
        #expect(transport.sent.isEmpty)
    }

    @Test func endpointsForClientsWithCertificatesAreTheirAliases() throws {
        let document = """
            {"issuer":"https://as.example","token_endpoint":"https://as.example/token",
            "revocation_endpoint":"https://as.example/revoke","authorization_endpoint":"https://as.example/authorize",
            "tls_client_certificate_bound_access_tokens":true,
            "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.as.example/token",
            "revocation_endpoint":"https://mtls.as.example/revoke","introspection_endpoint":"https://mtls.as.example/i",
            "authorization_endpoint":"https://mtls.as.example/authorize","x_other":7}}
            """
        let metadata = try ServerMetadata(parsing: Array(document.utf8), issuer: Issuer("https://as.example"))
        #expect(metadata.tlsClientCertificateBoundAccessTokens)
        #expect(metadata.tokenEndpoint.rawValue == "https://as.example/token")
        let mutual = metadata.forMutualTLS
        #expect(mutual.tokenEndpoint.rawValue == "https://mtls.as.example/token")
        #expect(mutual.revocationEndpoint?.rawValue == "https://mtls.as.example/revoke")
        // The browser shows no certificate, and what the server does not have, it has no alias of.
        #expect(mutual.authorizationEndpoint?.rawValue == "https://as.example/authorize")
        #expect(mutual.introspectionEndpoint == nil)
        let insecure = document.replacing("https://mtls.as.example/i", with: "http://mtls.as.example/i")
        #expect(throws: DiscoveryError.self) {
            try ServerMetadata(parsing: Array(insecure.utf8), issuer: Issuer("https://as.example"))
        }
    }

    private static func binding(_ authentication: ClientAuthentication) throws -> ServerBinding {
        ServerBinding(
            tokenEndpoint: try EndpointURL("https://as.example/token"), clientID: try ClientID("app"),
            authentication: authentication)
    }

    private static func endpoint(
        _ authentication: ClientAuthentication, _ transport: any HTTPTransport
    ) throws -> TokenEndpoint {
        TokenEndpoint(binding: try binding(authentication), transport: transport, now: { .now })
    }
}

/// Refuses everything, and keeps what was sent with which certificate.
private final class ShowingTransport: HTTPTransport {
    private let state = Mutex<(shown: [ClientCertificate], bodies: [String])>(([], []))

    var shown: [ClientCertificate] { state.withLock { $0.shown } }
    var bodies: [String] { state.withLock { $0.bodies } }

    func send(_ request: HTTPRequest, body: [UInt8], limits: HTTPLimits) async throws(HTTPTransportError) -> HTTPReply {
        throw HTTPTransportError(.notSent, .refused)
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate
    ) async throws(HTTPTransportError) -> HTTPReply {
        state.withLock { state in
            state.shown.append(certificate)
            state.bodies.append(String(decoding: body, as: UTF8.self))
        }
        return reply(503)
    }
}

private enum PEM {
    static func text(_ bytes: [UInt8]) -> String {
        "-----BEGIN CERTIFICATE-----\n\(Data(bytes).base64EncodedString())\n-----END CERTIFICATE-----\n"
    }
}
