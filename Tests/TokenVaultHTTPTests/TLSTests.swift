import OAuthClient
import Testing
import TokenVaultHTTP

@Suite(.timeLimit(.minutes(10)))
struct TLSTests {
    /// `RawServer` stands before OpenSSL's server, so that connections can be counted.
    private static func counting(_ server: TLSServer) throws -> RawServer {
        let port = server.port
        return try RawServer { $0.relay(to: port) }
    }

    private static func trusting(_ server: TLSServer) throws -> AsyncHTTPTransport.Options {
        AsyncHTTPTransport.Options(trustRoots: try .systemAnd(pemFile: server.certificatePath))
    }

    @Test func aTrustedCertificateForTheRightNameIsAccepted() async throws {
        let server = try await TLSServer.start(certificateFor: "localhost")
        let front = try Self.counting(server)
        let result = await sendToken(to: "https://localhost:\(front.port)/", options: try Self.trusting(server))
        // OpenSSL's status page knows GET only; what it answers to POST, if anything, comes after the handshake.
        #expect(result.reply != nil || result.failure?.phase == .maybeSent)
        #expect(front.connections == 1)
    }

    @Test func aTrustedCertificateForAnotherNameIsRefusedBeforeAnythingIsSent() async throws {
        let server = try await TLSServer.start(certificateFor: "other.example")
        let front = try Self.counting(server)
        let result = await sendToken(to: "https://localhost:\(front.port)/", options: try Self.trusting(server))
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
        #expect(front.connections == 1)
    }

    @Test func aSelfSignedCertificateIsRefusedBeforeAnythingIsSent() async throws {
        let server = try await TLSServer.start(certificateFor: "localhost")
        let front = try Self.counting(server)
        let result = await sendToken(to: "https://localhost:\(front.port)/", options: .init())
        #expect(result.failure == HTTPTransportError(.notSent, .tls))
        #expect(front.connections == 1)
    }

    @Test func aServerThatOffersOnlyOldTLSIsRefused() async throws {
        let server = try await TLSServer.start(
            certificateFor: "localhost", options: ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        let result = await sendToken(to: "https://localhost:\(server.port)/", options: try Self.trusting(server))
        #expect(result.failure?.phase == .notSent)
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
}
