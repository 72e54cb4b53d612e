import FoundationEssentials
import NIOSSL
import OAuthClient
import RawSockets
import Testing
import TokenVaultHTTP

struct TLSTests {
    private static func send(
        _ server: TLSServer, trusted: Bool = true, limits: HTTPLimits = .patient
    ) async throws -> SendResult {
        let options = AsyncHTTPTransport.Options(
            trustRoots: trusted ? try .systemAnd(pemFile: server.trustFile) : .system)
        return await sendToken(to: "https://localhost:\(server.port)/token", limits: limits, options: options)
    }

    private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    private static func answering(_ certificate: Certificate) throws -> TLSServer {
        try TLSServer(certificate) { connection in
            connection.readRequest()
            connection.write(reply)
            connection.end()
        }
    }

    @Test func aTrustedCertificateForTheRightNameIsAccepted() async throws {
        let server = try Self.answering(.localhost)
        let result = try await Self.send(server)
        #expect(result.reply.map { String(decoding: $0.body, as: UTF8.self) } == "{}")
        #expect(server.received.first?.hasPrefix("POST /token HTTP/1.1\r\n") == true)
        #expect(server.connections == 1)
    }

    @Test(arguments: Certificate.allCases)
    func untrustedCertificateIsRefusedBeforeSending(_ certificate: Certificate) async throws {
        let server = try Self.answering(certificate)
        let result = try await Self.send(server, trusted: false)
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
        #expect(server.received.isEmpty)
        #expect(server.connections == 1)
    }

    /// Expired, not yet valid, or somebody else's: even an authority of our own does not help.
    @Test(arguments: [Certificate.otherName, .expired, .notYetValid])
    func invalidTrustedCertificateIsRefusedBeforeSending(_ certificate: Certificate) async throws {
        let server = try Self.answering(certificate)
        let result = try await Self.send(server)
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
        #expect(server.received.isEmpty)
        #expect(server.connections == 1)
    }

    @Test func aServerThatOffersOnlyOldTLSIsRefused() async throws {
        let server = try TLSServer(.localhost, newest: .tlsv11) { $0.readRequest() }
        let result = try await Self.send(server)
        #expect(result.failure?.phase == .notSent)
        #expect(server.received.isEmpty)
    }

    @Test func aServerThatNeverShakesHandsWasNotSentAnything() async throws {
        let server = try RawServer { $0.waitForPeer() }
        let result = await sendToken(
            to: "https://localhost:\(server.port)/", limits: .impatientToConnect,
            options: .init(connectTimeout: .seconds(2)))
        #expect(result.failure == HTTPTransportError(.notSent, .timeout))
        #expect(server.connections == 1)
    }

    @Test func aServerThatSpeaksPlainHTTPIsRefused() async throws {
        let server = try RawServer {
            $0.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            $0.waitForPeer()
        }
        let result = await sendToken(to: "https://localhost:\(server.port)/", options: .init())
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
    }

    @Test func aFileWithoutCertificatesIsNoTrustRoot() throws {
        #expect(throws: (any Error).self) { try AsyncHTTPTransport.TrustRoots.systemAnd(pemFile: "/dev/null") }
        #expect(throws: (any Error).self) { try AsyncHTTPTransport.TrustRoots.systemAnd(pemFile: "/no/such/file") }
    }

    // MARK: The end of the connection

    struct Ending: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var saysGoodbye = false
        let isBelieved: Bool
    }

    private static let good = HostileReply.good()
    private static let chunked = HostileStep.head(200, ["Transfer-Encoding: chunked"]) + HostileCase.chunked(good)

    /// An attacker who cannot read or change the connection can still cut it (RFC 9112 §9.8).
    static let endings: [Ending] = [
        Ending(
            testDescription: "a whole reply with a length, then a cut",
            text: HostileStep.head(200, ["Content-Length: \(good.utf8.count)"]) + good, isBelieved: true),
        Ending(
            testDescription: "a cut in a body with a length",
            text: HostileStep.head(200, ["Content-Length: 500"]) + good, isBelieved: false),
        Ending(
            testDescription: "an orderly end in a body with a length",
            text: HostileStep.head(200, ["Content-Length: 500"]) + good, saysGoodbye: true, isBelieved: false),
        Ending(testDescription: "a whole reply in chunks, then a cut", text: chunked, isBelieved: true),
        Ending(
            testDescription: "a cut before the last chunk", text: String(chunked.dropLast("0\r\n\r\n".count)),
            isBelieved: false),
        Ending(
            testDescription: "an orderly end before the last chunk",
            text: String(chunked.dropLast("0\r\n\r\n".count)), saysGoodbye: true, isBelieved: false),
        Ending(
            testDescription: "an orderly end as the end of the body", text: bare, saysGoodbye: true, isBelieved: true),
        Ending(testDescription: "a cut as the end of the body", text: bare, isBelieved: false),
        Ending(testDescription: "a cut in the head", text: "HTTP/1.1 200 OK\r\nContent-", isBelieved: false),
        Ending(testDescription: "a cut before the head", text: "", isBelieved: false),
    ]

    private static let bare = "HTTP/1.0 200 OK\r\n\r\n" + good

    @Test(arguments: endings)
    func aReplyThatWasCutIsInDoubt(_ ending: Ending) async throws {
        let server = try TLSServer(.localhost) { connection in
            connection.readRequest()
            connection.write(ending.text)
            if ending.saysGoodbye { connection.end() }
        }
        let transport = AsyncHTTPTransport(options: .init(trustRoots: try .systemAnd(pemFile: server.trustFile)))
        let binding = ServerBinding(
            tokenEndpoint: try EndpointURL("https://localhost:\(server.port)/token"), clientID: try ClientID("client"),
            authentication: .none, limits: .patient)
        let attempt = await TokenEndpoint(binding: binding, transport: transport, now: { .now }).refresh(
            RefreshRequest(refreshToken: try RefreshToken("CANARY-refresh-1")), context: ClassificationContext())
        #expect(HostileCase.Outcome(attempt) == (ending.isBelieved ? .success : .doubt))
        #expect(server.connections == 1)
        await transport.shutdown()
    }
}
