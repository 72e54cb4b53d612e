import Crypto
import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// A proof, cut up and with its signature checked.
struct ReadProof {
    let header: JSONObject
    let claims: JSONObject
    let jwk: JSONObject
    let publicKey: P256.Signing.PublicKey

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        header = try JSONObject(document: try #require(Base64URL.decode(parts[0])))
        claims = try JSONObject(document: try #require(Base64URL.decode(parts[1])))
        guard case .object(let jwk)? = header["jwk"], case .string(let x)? = jwk["x"],
            case .string(let y)? = jwk["y"]
        else { throw OAuthValueError(.malformed, "proof") }
        self.jwk = jwk
        let point = try #require(Base64URL.decode(x)) + (try #require(Base64URL.decode(y)))
        publicKey = try P256.Signing.PublicKey(rawRepresentation: point)
        let raw = try #require(Base64URL.decode(parts[2]))
        #expect(raw.count == 64)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        #expect(publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    func claim(_ name: String) -> String? {
        switch claims[name] {
        case .string(let text)?: text
        case .number(let text)?: text
        default: nil
        }
    }

    var thumbprint: JWKThumbprint? {
        guard case .string(let x)? = jwk["x"], case .string(let y)? = jwk["y"] else { return nil }
        return JWKThumbprint(canonicalJWK: #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#)
    }
}

struct DPoPTests {
    /// RFC 9449 §4.1, figure 2, and §7.1, figure 13, with the line breaks taken out.
    private static let rfcHeader =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs"
        + "cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2"
        + "In19"
    private static let tokenRequest =
        rfcHeader + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29t"
        + "L3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70"
        + "nfbV37xRZT3Lg"
    private static let resourceRequest =
        rfcHeader + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9y"
        + "Zy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NB"
        + "cWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"

    @Test func theProofsOfRFC9449Verify() throws {
        let first = try ReadProof(Self.tokenRequest)
        #expect(first.claim("htu") == "https://server.example.com/token")
        // RFC 9449 §6.1, figure 9: the `jkt` of the same key.
        #expect(first.thumbprint?.rawValue == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        let second = try ReadProof(Self.resourceRequest)
        // RFC 9449 §7.1, figure 12: the access token of the same request.
        let token = try AccessToken("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        #expect(second.claim("ath") == DPoPProof.hash(of: token))
        #expect(second.claim("ath") == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    }

    @Test func theThumbprintOfRFC7638IsMet() {
        // RFC 7638 §3.1.
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n"
            + "3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zg"
            + "dAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFC"
            + "ur-kEgU8awapJzKnqDKgw"
        let thumbprint = JWKThumbprint(canonicalJWK: #"{"e":"AQAB","kty":"RSA","n":"\#(modulus)"}"#)
        #expect(thumbprint.rawValue == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func ourProofsHoldWhatRFC9449AsksFor() throws {
        let key = DPoPKey.generate()
        let token = try AccessToken("access-CANARY")
        let proof = try DPoPProof.sign(
            key: key, method: .get, url: "https://API.example.com:443/a%2Fb/c?secret=1#part", issuedAt: Sample.start,
            nonce: DPoPNonce("server-nonce"), accessToken: token)
        let read = try ReadProof(proof.rawValue)
        guard case .string("dpop+jwt")? = read.header["typ"], case .string("ES256")? = read.header["alg"] else {
            Issue.record("wrong header")
            return
        }
        #expect(read.jwk["d"] == nil)
        #expect(read.thumbprint == key.thumbprint)
        #expect(read.claim("htm") == "GET")
        #expect(read.claim("htu") == "https://api.example.com/a%2Fb/c")
        #expect(read.claim("iat") == "1700000000")
        #expect(read.claim("nonce") == "server-nonce")
        #expect(read.claim("ath") == DPoPProof.hash(of: token))
        #expect(Base64URL.decode(try #require(read.claim("jti")))?.count == 16)
    }

    @Test(arguments: [
        ("https://example.com", "https://example.com/"), ("HTTPS://Example.COM/", "https://example.com/"),
        ("https://example.com:443/x", "https://example.com/x"), ("http://127.0.0.1:80/x", "http://127.0.0.1/x"),
        ("https://example.com:8443/x/", "https://example.com:8443/x/"), ("https://[::1]:1/x", "https://[::1]:1/x"),
        ("https://example.com/%7euser?x=/y#z", "https://example.com/%7euser"), ("https://e.com?x", "https://e.com/"),
    ])
    func theTargetIsBuiltFromTheRawURL(_ url: String, _ target: String) throws {
        let proof = try DPoPProof.sign(key: .generate(), method: .post, url: url, issuedAt: Sample.start)
        #expect(try ReadProof(proof.rawValue).claim("htu") == target)
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "https://", "https://a b/", "https://e.com/\"", "file:///x",
    ])
    func otherURLsAreRefused(_ url: String) {
        #expect(throws: OAuthValueError.self) {
            try DPoPProof.sign(key: .generate(), method: .post, url: url, issuedAt: Sample.start)
        }
    }

    @Test func everyProofHasAnIdentifierOfItsOwn() throws {
        let key = DPoPKey.generate()
        var seen = Set<String>()
        for _ in 0..<200 {
            let proof = try DPoPProof.sign(key: key, method: .post, url: "https://e.com/", issuedAt: Sample.start)
            seen.insert(try #require(try ReadProof(proof.rawValue).claim("jti")))
        }
        #expect(seen.count == 200)
    }

    @Test func aKeyComesBackFromItsBytes() throws {
        let key = DPoPKey.generate()
        let again = try DPoPKey(rawRepresentation: key.revealRawRepresentation())
        #expect(again.thumbprint == key.thumbprint)
        for count in [0, 31, 33] {
            #expect(throws: OAuthValueError.self) {
                try DPoPKey(rawRepresentation: [UInt8](repeating: 1, count: count))
            }
        }
        #expect(throws: OAuthValueError.self) { try DPoPKey(rawRepresentation: [UInt8](repeating: 0, count: 32)) }
    }

    @Test(arguments: ["", "a b", "a\"b", "a\\b", "é", "a\u{7F}", String(repeating: "n", count: 2_049)])
    func whatIsNoNonceIsRefused(_ text: String) {
        #expect(DPoPNonce(text) == nil)
    }

    @Test func timesBeforeAndFarAfterTheEpochDoNotTrap() throws {
        for time in [-1e300, -1, 0, 1e300, .infinity, -.infinity] {
            let date = Date(timeIntervalSince1970: time)
            _ = try DPoPProof.sign(key: .generate(), method: .post, url: "https://e.com/", issuedAt: date)
        }
    }
}

struct PKCETests {
    @Test func theExampleOfRFC7636AppendixBIsMet() throws {
        let verifier = try CodeVerifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(verifier.challenge.rawValue == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func randomVerifiersDifferAndAreLongEnough() {
        let verifiers = Set((0..<100).map { _ in CodeVerifier.random() })
        #expect(verifiers.count == 100)
        #expect(verifiers.allSatisfy { $0.reveal().utf8.count == 43 })
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 42), String(repeating: "a", count: 129), String(repeating: "+", count: 43),
    ])
    func otherVerifiersAreRefused(_ text: String) {
        #expect(throws: OAuthValueError.self) { try CodeVerifier(text) }
    }
}
