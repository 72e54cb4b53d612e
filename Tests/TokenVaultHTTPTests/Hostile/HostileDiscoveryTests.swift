import FoundationEssentials
import OAuthClient
import RawSockets
import Testing
import TokenVaultHTTP

/// Metadata documents of servers that mean somebody else, over the real transport.
struct HostileDiscoveryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [HostileStep]
        /// Nil: the document is taken.
        let code: DiscoveryError.Code?
        var isSlow = false
    }

    /// A document of the server that was asked, with members replaced (nil: left out) or added.
    private static func document(_ name: String, _ changes: [String: String?], _ code: DiscoveryError.Code?) -> Case {
        var members: [String: String?] = [
            "issuer": "\"http://127.0.0.1:{self}\"", "token_endpoint": "\"http://127.0.0.1:{self}/token\"",
            "authorization_endpoint": "\"https://login.example/authorize\"",
        ]
        members.merge(changes) { $1 }
        let pairs = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return body(name, "{" + pairs.joined(separator: ",") + "}", code)
    }

    private static func body(_ name: String, _ text: String, _ code: DiscoveryError.Code?) -> Case {
        // Without a length: the ports are filled in last.
        Case(
            testDescription: name,
            steps: [.readRequest, .write("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + text)],
            code: code)
    }

    static let cases: [Case] =
        [
            document("its own", [:], nil),
            document("another issuer", ["issuer": "\"https://evil.example\""], .issuerMismatch),
            document("the issuer with a slash", ["issuer": "\"http://127.0.0.1:{self}/\""], .issuerMismatch),
            document("the issuer in another spelling", ["issuer": "\"HTTP://127.0.0.1:{self}\""], .issuerMismatch),
            document("the issuer by name", ["issuer": "\"http://localhost:{self}\""], .issuerMismatch),
            document("no issuer", ["issuer": nil], .malformed),
            document("an issuer that is null", ["issuer": "null"], .malformed),
            document("a list of issuers", ["issuer": "[\"http://127.0.0.1:{self}\"]"], .malformed),
            document("no token endpoint", ["token_endpoint": nil], .missingEndpoint),
            document("a token endpoint that is null", ["token_endpoint": "null"], .missingEndpoint),
            document(
                "a plain http endpoint elsewhere", ["token_endpoint": "\"http://evil.example/t\""], .insecureEndpoint),
            document(
                "a plain http endpoint of the cloud", ["token_endpoint": "\"http://169.254.169.254/latest\""],
                .insecureEndpoint),
            document("a file as endpoint", ["token_endpoint": "\"file:///etc/passwd\""], .malformed),
            document("a script as endpoint", ["authorization_endpoint": "\"javascript:alert(1)\""], .malformed),
            document("a path as endpoint", ["token_endpoint": "\"/token\""], .malformed),
            document("an endpoint with a user", ["token_endpoint": "\"https://a:b@evil.example/t\""], .malformed),
            document("an endpoint with a fragment", ["token_endpoint": "\"https://evil.example/t#x\""], .malformed),
            document(
                "an endpoint with a line end", ["token_endpoint": #""https://evil.example/\r\nX: y""#], .malformed),
            document("an endpoint with a space", ["token_endpoint": "\"https://evil.example/ x\""], .malformed),
            document(
                "an insecure endpoint to revoke", ["revocation_endpoint": "\"http://evil.example/\""], .insecureEndpoint
            ),
            document(
                "an insecure endpoint to push to",
                ["pushed_authorization_request_endpoint": "\"http://evil.example/\""],
                .insecureEndpoint),
            document("numbers for scopes", ["scopes_supported": "[1,2]"], nil),
            body("two issuers", #"{"issuer":"http://127.0.0.1:{self}","issuer":"https://evil.example"}"#, .malformed),
            body("nothing", "", .malformed),
            body("a page", "<html>{self}</html>", .malformed),
            body("a list", "[{self}]", .malformed),
            body("half a document", #"{"issuer":"http://127.0.0.1:{self}","token_endpoint":"#, .malformed),
            Case(
                testDescription: "2 MiB",
                steps: [
                    .readRequest, .write("HTTP/1.0 200 OK\r\n\r\n"),
                    .flood([UInt8](repeating: 0x20, count: 65_536), times: 32),
                ], code: .tooLarge),
            Case(
                testDescription: "100 000 lists",
                steps: [
                    .readRequest, .write("HTTP/1.0 200 OK\r\n\r\n"), .write(String(repeating: "[", count: 100_000)),
                ], code: .malformed),
            Case(
                testDescription: "a cut",
                steps: [
                    .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"),
                ], code: .malformed),
            Case(
                testDescription: "an unknown compression",
                steps: [
                    .readRequest,
                    .write("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"),
                ], code: .malformed),
            Case(
                testDescription: "another protocol", steps: [.readRequest, .write("SSH-2.0-OpenSSH_9.6\r\n")],
                code: .malformed),
            Case(testDescription: "no answer", steps: [.readRequest, .waitForPeer], code: .unreachable, isSlow: true),
            Case(testDescription: "a server error", steps: [.readRequest, .reply(503)], code: .serverError),
        ]
        + [301, 302, 303, 307, 308].map { status in
            Case(
                testDescription: "a redirect by \(status)",
                steps: [.readRequest, .reply(status, "", "Location: http://127.0.0.1:{other}/x")], code: .notFound)
        }

    @Test(arguments: cases)
    func onlyItsOwnDocumentIsTaken(_ one: Case) async throws {
        let other = try RawServer { $0.readRequest() }
        let server = try HostileServer([one.steps], other: other.port)
        let transport = AsyncHTTPTransport(options: .loopback)
        let issuer = try Issuer("http://127.0.0.1:\(server.port)", allowsInsecureLoopback: true)
        do throws(DiscoveryError) {
            let metadata = try await Discovery.metadata(
                issuer: issuer, transport: transport, allowsInsecureLoopback: true,
                limits: HTTPLimits(bodyBytes: 1_048_576, timeout: one.isSlow ? .seconds(1) : .seconds(40)))
            #expect(one.code == nil)
            #expect(metadata.tokenEndpoint.rawValue == "http://127.0.0.1:\(server.port)/token")
        } catch {
            #expect(error.code == one.code, "\(error)")
            // Only another issuer, and the server of an insecure endpoint, are named.
            #expect([.issuerMismatch, .insecureEndpoint].contains(error.code) || !"\(error)".contains("evil"))
        }
        #expect(other.connections == 0)
        #expect(server.connections <= 2)
        await transport.shutdown()
    }

    @Test func theTableIsWhole() {
        print("hostile metadata: \(Self.cases.count) documents")
    }
}
