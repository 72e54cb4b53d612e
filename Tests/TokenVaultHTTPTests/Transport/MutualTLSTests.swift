import FoundationEssentials
import HTTPTypes
import NIOSSL
import OAuthClient
import Testing
import TestCertificates

@testable import TokenVaultHTTP

struct MutualTLSTests {
    private static func send(
        to server: TLSServer, showing certificate: ClientCertificate, through transport: AsyncHTTPTransport
    ) async -> SendResult {
        let request = HTTPRequest(
            method: .post, scheme: "https", authority: "localhost:\(server.port)", path: "/token")
        do throws(HTTPTransportError) {
            return .reply(
                try await transport.send(
                    request, body: Array("x=y".utf8), limits: .patient, showing: certificate))
        } catch {
            return .failure(error)
        }
    }

    private static func transport(_ server: TLSServer) throws -> AsyncHTTPTransport {
        AsyncHTTPTransport(
            options: .init(allowsInsecureLoopback: true, trustRoots: try .systemAnd(pemFile: server.trustFile)))
    }

    private static func answering(clients authority: TestCertificate, newest: TLSVersionName) throws -> TLSServer {
        try TLSServer(.localhost, newest: newest.version, clientAuthority: authority.pem) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            connection.end()
        }
    }

    /// Of a server that lets in whom its authority vouches for.
    @Test(arguments: TLSVersionName.allCases)
    func theServerSeesTheCertificate(_ newest: TLSVersionName) async throws {
        let authority = try TestCertificate("authority")
        let server = try Self.answering(clients: authority, newest: newest)
        let transport = try Self.transport(server)
        let made = try TestCertificate("app", signedBy: authority)
        let certificate = try ClientCertificate(chainPEM: made.pem, keyPEM: made.keyPEM)
        #expect(await Self.send(to: server, showing: certificate, through: transport).reply != nil)
        #expect(server.received.count == 1)
        await transport.shutdown()
    }

    enum Flaw: CaseIterable, Sendable {
        case unknownAuthority, otherKey, expired
    }

    /// In TLS 1.3 the request may be on its way before the refusal comes; the server has not read it.
    @Test(arguments: TLSVersionName.allCases, Flaw.allCases)
    func aCertificateThatTheServerRefusesSendsNothing(_ newest: TLSVersionName, _ flaw: Flaw) async throws {
        let authority = try TestCertificate("authority")
        let server = try Self.answering(clients: authority, newest: newest)
        let transport = try Self.transport(server)
        let made =
            switch flaw {
            case .unknownAuthority: try TestCertificate("app", signedBy: TestCertificate("another"))
            case .otherKey: try TestCertificate("app", signedBy: TestCertificate("authority"))
            case .expired:
                try TestCertificate(
                    "app", signedBy: authority,
                    validity: Date(timeIntervalSince1970: 1_000_000_000)...Date(timeIntervalSince1970: 1_100_000_000))
            }
        let certificate = try ClientCertificate(chainPEM: made.pem, keyPEM: made.keyPEM)
        let failure = await Self.send(to: server, showing: certificate, through: transport).failure
        #expect(failure == HTTPTransportError(.notSent, .tls))
        #expect(server.received.isEmpty)
        await transport.shutdown()
    }

    @Test(arguments: TLSVersionName.allCases)
    func serverSeesNoRequestWithoutAClientCertificate(_ newest: TLSVersionName) async throws {
        let server = try Self.answering(clients: TestCertificate("authority"), newest: newest)
        let options = AsyncHTTPTransport.Options(trustRoots: try .systemAnd(pemFile: server.trustFile))
        let result = await sendToken(to: "https://localhost:\(server.port)/token", options: options)
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
        #expect(server.received.isEmpty)
    }

    @Test func plainHTTPIsRefusedBecauseNothingCanBeShownThere() async throws {
        let made = try TestCertificate("app")
        let transport = AsyncHTTPTransport(options: .loopback)
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:1", path: "/token")
        await #expect(throws: HTTPTransportError(.notSent, .refused)) {
            _ = try await transport.send(
                request, body: [], limits: .patient,
                showing: try ClientCertificate(chainPEM: made.pem, keyPEM: made.keyPEM))
        }
        await transport.shutdown()
    }

    // MARK: Clients

    private static func certificates(_ count: Int) throws -> [ClientCertificate] {
        try (0..<count).map { number in
            let made = try TestCertificate("app-\(number)")
            return try ClientCertificate(chainPEM: made.pem, keyPEM: made.keyPEM)
        }
    }

    @Test func eachCertificateHasItsOwnClientUpToALimit() async throws {
        let clients = AsyncHTTPTransport().clients
        let certificates = try Self.certificates(CertificateClients.limit + 3)
        let one = try clients.lease(.init(certificate: certificates[0]))
        #expect(try clients.lease(.init(certificate: certificates[0])).client === one.client)
        #expect(try clients.lease(.init(certificate: certificates[1])).client !== one.client)
        #expect(try clients.lease(.init()).client !== one.client)
        for certificate in certificates { _ = try clients.lease(.init(certificate: certificate)) }
        #expect(clients.count == CertificateClients.limit)
        // It is in use, so it is still there.
        #expect(try clients.lease(.init(certificate: certificates[0])).client === one.client)
        await clients.shutDown()
        #expect(throws: HTTPTransportError(.notSent, .cancelled)) { try clients.lease(.init()) }
    }

    @Test func clientsInUseAreNeverClosedForOthers() async throws {
        let clients = AsyncHTTPTransport().clients
        var leases: [CertificateClients.Lease] = []
        for certificate in try Self.certificates(CertificateClients.limit + 2) {
            leases.append(try clients.lease(.init(certificate: certificate)))
        }
        #expect(clients.count == leases.count)
        leases = []
        _ = try clients.lease(.init())
        #expect(clients.count <= CertificateClients.limit + 2)
        await clients.shutDown()
    }
}

enum TLSVersionName: String, CaseIterable, Sendable {
    case tls12, tls13

    var version: TLSVersion { self == .tls12 ? .tlsv12 : .tlsv13 }
}
