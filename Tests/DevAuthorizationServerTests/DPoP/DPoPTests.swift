import Crypto
import DevAuthorizationServer
import Foundation
import Testing

/// One way to spoil a proof.
struct Falsification: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let proof: @Sendable (TestKey, String) throws -> String

    init(_ name: String, _ proof: @escaping @Sendable (TestKey, String) throws -> String) {
        testDescription = name
        self.proof = proof
    }

    static let all: [Falsification] = [
        .init("not a JWT") { _, _ in "x" },
        .init("two parts") { key, url in
            try key.proof("POST", url).split(separator: ".").prefix(2).joined(separator: ".")
        },
        .init("padded") { key, url in try key.proof("POST", url) + "=" },
        .init("typ JWT") { key, url in try key.proof("POST", url, header: ["typ": "JWT"]) },
        .init("no typ") { key, url in try key.proof("POST", url, removing: "typ") },
        .init("alg none") { key, url in try key.proof("POST", url, header: ["alg": "none"]) { _ in Data() } },
        .init("alg HS256") { key, url in
            try key.proof("POST", url, header: ["alg": "HS256"]) { input in
                Data(HMAC<SHA256>.authenticationCode(for: input, using: .init(data: Data(count: 32))))
            }
        },
        .init("alg of another curve") { key, url in try key.proof("POST", url, header: ["alg": "ES384"]) },
        .init("crit") { key, url in try key.proof("POST", url, header: ["crit": ["x"]]) },
        .init("no jwk") { key, url in try key.proof("POST", url, removing: "jwk") },
        .init("private jwk") { key, url in
            var jwk = key.jwk
            jwk["d"] = base64URL(key.key.rawRepresentation)
            return try key.proof("POST", url, header: ["jwk": jwk])
        },
        .init("symmetric jwk") { key, url in try key.proof("POST", url, header: ["jwk": ["kty": "oct", "k": "AA"]]) },
        .init("short coordinate") { key, url in
            var jwk = key.jwk
            jwk["x"] = "AAAA"
            return try key.proof("POST", url, header: ["jwk": jwk])
        },
        .init("point off the curve") { key, url in
            var jwk = key.jwk
            jwk["y"] = base64URL([UInt8](repeating: 1, count: 32))
            return try key.proof("POST", url, header: ["jwk": jwk])
        },
        .init("signature of another key") { key, url in
            try key.proof("POST", url) { try P256.Signing.PrivateKey().signature(for: $0).rawRepresentation }
        },
        .init("DER signature") { key, url in
            try key.proof("POST", url) { try key.key.signature(for: $0).derRepresentation }
        },
        .init("changed claims") { key, url in
            let parts = try key.proof("POST", url).split(separator: ".")
            let other = try key.proof("POST", url).split(separator: ".")
            return [parts[0], other[1], parts[2]].joined(separator: ".")
        },
        .init("no jti") { key, url in try key.proof("POST", url, removing: "jti") },
        .init("empty jti") { key, url in try key.proof("POST", url, claims: ["jti": ""]) },
        .init("numeric jti") { key, url in try key.proof("POST", url, claims: ["jti": 7]) },
        .init("no htm") { key, url in try key.proof("POST", url, removing: "htm") },
        .init("htm GET") { key, url in try key.proof("GET", url) },
        .init("htm in lower case") { key, url in try key.proof("post", url) },
        .init("no htu") { key, url in try key.proof("POST", url, removing: "htu") },
        .init("htu of another path") { key, url in try key.proof("POST", url + "/") },
        .init("htu in another case") { key, url in try key.proof("POST", url.replacing("/token", with: "/Token")) },
        .init("htu of another port") { key, _ in try key.proof("POST", "http://127.0.0.1:1/token") },
        .init("htu with https") { key, url in try key.proof("POST", url.replacing("http:", with: "https:")) },
        .init("htu without scheme") { key, _ in try key.proof("POST", "/token") },
        .init("no iat") { key, url in try key.proof("POST", url, removing: "iat") },
        .init("iat as text") { key, url in
            try key.proof("POST", url, claims: ["iat": "\(Int(Date().timeIntervalSince1970))"])
        },
        .init("iat two minutes ago") { key, url in
            try key.proof("POST", url, issuedAt: Date(timeIntervalSinceNow: -120))
        },
        .init("iat in a minute") { key, url in try key.proof("POST", url, issuedAt: Date(timeIntervalSinceNow: 60)) },
        .init("numeric nonce") { key, url in try key.proof("POST", url, claims: ["nonce": 1]) },
    ]
}

struct DPoPTests {
    @Test(arguments: Falsification.all)
    func falsifiedProofIsRefused(_ falsification: Falsification) async throws {
        try await withServer { server in
            let client = Client(server)
            let proof = try falsification.proof(TestKey(), client.tokenURL)
            let reply = try await client.exchange(try await client.code(), proof: proof)
            #expect(reply.status == 400)
            #expect(reply.error == "invalid_dpop_proof")
            #expect(server.counters.accessTokensIssued == 0)
        }
    }

    @Test func goodProofBindsTheTokens() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let reply = try await client.exchange(
                try await client.code(), proof: key.proof("POST", client.tokenURL))
            #expect(try reply.string("token_type") == "DPoP")
            #expect(server.grants.map(\.refreshKey) == [key.thumbprint])
            #expect(server.log.records.last?.proofKey == key.thumbprint)
        }
    }

    /// RFC 9449 §4.3, item 9, and RFC 3986 §6.2: spellings of one URI.
    @Test func otherSpellingsOfTheTargetPass() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let port = server.port
            for target in [
                "HTTP://127.0.0.1:\(port)/token", "http://127.0.0.1:\(port)/%74oken",
                "http://127.0.0.1:\(port)/a/../token", "http://127.0.0.1:\(port)/./token?x=1#y",
            ] {
                let proof = try key.proof("POST", target)
                #expect(try await client.exchange(try await client.code(), proof: proof).status == 200, "\(target)")
            }
        }
    }

    @Test func proofOfAFewSecondsAheadPasses() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            for offset in [-50.0, 8.0] {
                let proof = try key.proof(
                    "POST", client.tokenURL, issuedAt: Date(timeIntervalSinceNow: offset))
                #expect(try await client.exchange(try await client.code(), proof: proof).status == 200)
            }
        }
    }

    @Test func proofIsGoodOnce() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let proof = try key.proof("POST", client.tokenURL)
            #expect(try await client.exchange(try await client.code(), proof: proof).status == 200)
            #expect(try await client.exchange(try await client.code(), proof: proof).error == "invalid_dpop_proof")
        }
    }

    @Test func twoProofsAreRefused() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let reply = try await Wire.post(
                client.tokenURL, [("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", "demo")],
                headers: [
                    ("DPoP", try key.proof("POST", client.tokenURL)), ("DPoP", try key.proof("POST", client.tokenURL)),
                ])
            #expect(reply.error == "invalid_dpop_proof")
        }
    }

    @Test func refreshTokenOfAPublicClientIsBoundToItsKey() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let login = try await client.logIn(proof: key.proof("POST", client.tokenURL))
            #expect(try await client.refresh(login.refresh).error == "invalid_dpop_proof")
            let stranger = try TestKey().proof("POST", client.tokenURL)
            #expect(try await client.refresh(login.refresh, proof: stranger).error == "invalid_dpop_proof")
            let reply = try await client.refresh(login.refresh, proof: key.proof("POST", client.tokenURL))
            #expect(try reply.string("token_type") == "DPoP")
            // A thief without the key cannot end the family by replaying.
            #expect(try await client.refresh(login.refresh, proof: stranger).error == "invalid_dpop_proof")
            #expect(server.counters.reuseDetected == 0)
        }
    }

    @Test func refreshTokenOfAConfidentialClientIsNot() async throws {
        try await withServer { server in
            let client = Client.post(server)
            let login = try await client.logIn(proof: TestKey().proof("POST", client.tokenURL))
            let reply = try await client.refresh(login.refresh, proof: TestKey().proof("POST", client.tokenURL))
            #expect(reply.status == 200)
            #expect(try reply.string("token_type") == "DPoP")
        }
    }

    @Test func codeIsBoundByItsThumbprintParameter() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            let code = try await client.code([("dpop_jkt", key.thumbprint)])
            #expect(try await client.exchange(code).error == "invalid_dpop_proof")
            let stranger = try TestKey().proof("POST", client.tokenURL)
            #expect(try await client.exchange(code, proof: stranger).error == "invalid_dpop_proof")
            #expect(try await client.exchange(code, proof: key.proof("POST", client.tokenURL)).status == 200)
        }
    }

    @Test func clientMayBeObligedToProve() async throws {
        try await withServer({ $0.clients[0].requiresDPoP = true }) { server in
            let (client, key) = (Client(server), TestKey())
            let code = try await client.code()
            #expect(try await client.exchange(code).error == "invalid_dpop_proof")
            #expect(try await client.exchange(code, proof: key.proof("POST", client.tokenURL)).status == 200)
        }
    }

    @Test func skewedServerJudgesByItsOwnClockAndShowsIt() async throws {
        try await withServer { server in
            let (client, key) = (Client(server), TestKey())
            server.skewClock(by: .seconds(300))
            let reply = try await client.exchange(
                try await client.code(), proof: key.proof("POST", client.tokenURL))
            #expect(reply.error == "invalid_dpop_proof")
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            let shown = try #require(reply.header("date").flatMap(formatter.date(from:)))
            #expect((298...302).contains(shown.timeIntervalSinceNow))
            let late = try key.proof("POST", client.tokenURL, issuedAt: shown)
            #expect(try await client.exchange(try await client.code(), proof: late).status == 200)
        }
    }
}
