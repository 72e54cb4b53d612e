import Crypto
import CryptoExtras
import FoundationEssentials
import OAuthClient
import Testing

/// Signatures and issuers of id tokens (OpenID Connect Core §3.1.3.7, RFC 7515, RFC 7518).
struct IDTokenCheckTests {
    private static let now = Date(timeIntervalSince1970: 1_900_000_000)

    private struct Signer: Sendable {
        let algorithm: String
        let jwk: String
        let sign: @Sendable ([UInt8]) throws -> [UInt8]
    }

    private static func coordinates(_ point: [UInt8]) -> (String, String) {
        (Base64URL.encode(point.prefix(point.count / 2)), Base64URL.encode(point.suffix(point.count / 2)))
    }

    private static func signers() throws -> [Signer] {
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let rsaKey =
            #"{"kty":"RSA","kid":"k","n":"\#(Base64URL.encode(numbers.modulus))","#
            + #""e":"\#(Base64URL.encode(numbers.publicExponent))"}"#
        let (p256, p384, p521) = (P256.Signing.PrivateKey(), P384.Signing.PrivateKey(), P521.Signing.PrivateKey())
        func curve(_ name: String, _ point: Data) -> String {
            let (x, y) = coordinates([UInt8](point))
            return #"{"kty":"EC","crv":"\#(name)","kid":"k","x":"\#(x)","y":"\#(y)"}"#
        }
        let edwards = Curve25519.Signing.PrivateKey()
        let edwardsKey =
            #"{"kty":"OKP","crv":"Ed25519","kid":"k","x":"\#(Base64URL.encode(edwards.publicKey.rawRepresentation))"}"#
        func rsaSigner(
            _ name: String, _ padding: _RSA.Signing.Padding, _ digest: @escaping @Sendable ([UInt8]) -> any Digest
        ) -> Signer {
            Signer(algorithm: name, jwk: rsaKey) { input in
                func sign(_ digest: some Digest) throws -> [UInt8] {
                    [UInt8](try rsa.signature(for: digest, padding: padding).rawRepresentation)
                }
                return try sign(digest(input))
            }
        }
        return [
            rsaSigner("RS256", .insecurePKCS1v1_5) { SHA256.hash(data: $0) },
            rsaSigner("RS384", .insecurePKCS1v1_5) { SHA384.hash(data: $0) },
            rsaSigner("RS512", .insecurePKCS1v1_5) { SHA512.hash(data: $0) },
            rsaSigner("PS256", .PSS) { SHA256.hash(data: $0) },
            rsaSigner("PS384", .PSS) { SHA384.hash(data: $0) },
            rsaSigner("PS512", .PSS) { SHA512.hash(data: $0) },
            Signer(algorithm: "ES256", jwk: curve("P-256", p256.publicKey.rawRepresentation)) {
                [UInt8](try p256.signature(for: SHA256.hash(data: $0)).rawRepresentation)
            },
            Signer(algorithm: "ES384", jwk: curve("P-384", p384.publicKey.rawRepresentation)) {
                [UInt8](try p384.signature(for: SHA384.hash(data: $0)).rawRepresentation)
            },
            Signer(algorithm: "ES512", jwk: curve("P-521", p521.publicKey.rawRepresentation)) {
                [UInt8](try p521.signature(for: SHA512.hash(data: $0)).rawRepresentation)
            },
            Signer(algorithm: "EdDSA", jwk: edwardsKey) { [UInt8](try edwards.signature(for: $0)) },
            Signer(algorithm: "Ed25519", jwk: edwardsKey) { [UInt8](try edwards.signature(for: $0)) },
        ]
    }

    private func token(
        _ algorithm: String, kid: String? = "k", claims: [String: String] = [:],
        sign: ([UInt8]) throws -> [UInt8]
    ) throws -> IDToken {
        var members = [
            "iss": "\"https://acme.example\"", "sub": "\"s\"", "aud": "\"client\"", "exp": "1900000300",
            "iat": "1900000000",
        ]
        members.merge(claims) { $1 }
        let payload = "{" + members.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ",") + "}"
        let header = #"{"alg":"\#(algorithm)""# + (kid.map { #","kid":"\#($0)""# } ?? "") + "}"
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        return try IDToken(input + "." + Base64URL.encode(try sign(Array(input.utf8))))
    }

    private func check(
        keys: [String]? = nil, issuers: [String] = ["https://acme.example"], secrets: [ClientSecret] = []
    ) throws -> IDTokenCheck {
        IDTokenCheck(
            issuers: issuers, clientID: try ClientID("client"), nonce: nil, maximumAge: nil, secrets: secrets,
            keys: keys.flatMap { JSONWebKeySet(parsing: Array("{\"keys\":[\($0.joined(separator: ","))]}".utf8)) },
            now: Self.now)
    }

    private func code(_ check: IDTokenCheck, _ token: IDToken) -> IDTokenError.Code? {
        do throws(IDTokenError) {
            _ = try check.claims(of: token)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func everyAlgorithmTakesItsOwnSignatureAndNoOther() throws {
        let signers = try Self.signers()
        for signer in signers {
            let check = try check(keys: [signer.jwk])
            let good = try token(signer.algorithm, sign: signer.sign)
            #expect(try check.claims(of: good).isSignatureChecked, "\(signer.algorithm)")
            let bad = try token(signer.algorithm) { input in
                var signature = try signer.sign(input)
                signature[signature.count / 2] ^= 1
                return signature
            }
            #expect(code(check, bad) == .signature, "\(signer.algorithm)")
            for other in signers where other.algorithm != signer.algorithm {
                let confused = try token(other.algorithm, sign: signer.sign)
                #expect(
                    code(check, confused) != nil || Set([signer.algorithm, other.algorithm]) == ["EdDSA", "Ed25519"],
                    "\(signer.algorithm) as \(other.algorithm)")
            }
        }
    }

    /// The oldest trick: the public key as the secret of a symmetric signature.
    @Test func aPublicKeyIsNoSecret() throws {
        let signer = try Self.signers()[6]
        let check = try check(keys: [signer.jwk])
        let forged = try token("HS256") { input in
            Array(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: Array(signer.jwk.utf8))))
        }
        #expect(code(check, forged) == .signature)
    }

    @Test func aClientSecretSignsForItsClient() throws {
        let secret = try ClientSecret("secret-CANARY-of-32-bytes-or-more")
        let check = try check(secrets: [try ClientSecret("old"), secret])
        func signed(_ key: String) throws -> IDToken {
            try token("HS256") { input in
                Array(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: Array(key.utf8))))
            }
        }
        #expect(try check.claims(of: try signed(secret.reveal())).isSignatureChecked)
        #expect(code(check, try signed("another")) == .signature)
    }

    @Test func theKeyThatTheTokenNamesIsUsed() throws {
        let signer = try Self.signers()[6]
        let keys = [signer.jwk.replacing("\"kid\":\"k\"", with: "\"kid\":\"other\"")]
        let check = try check(keys: keys)
        #expect(code(check, try token("ES256", sign: signer.sign)) == .unknownKey)
        #expect(code(check, try token("ES256", kid: nil, sign: signer.sign)) == nil)
        // For encryption, or for another algorithm: not for this.
        for member in [#""use":"enc","#, #""alg":"ES384","#] {
            let key = signer.jwk.replacing("{\"kty\"", with: "{\(member)\"kty\"")
            #expect(code(try self.check(keys: [key]), try token("ES256", sign: signer.sign)) == .unknownKey)
        }
    }

    @Test(arguments: ["none", "None", "NONE"])
    func noSignatureIsNeverTaken(algorithm: String) throws {
        let unsigned = try token(algorithm) { _ in [1] }
        #expect(code(try check(), unsigned) == .unsigned)
        #expect(code(try check(), try token("RS256") { _ in [] }) == .unsigned)
    }

    @Test func anUnknownAlgorithmIsTakenOnlyWhereNoKeyIsKnown() throws {
        let strange = try token("X256") { _ in [1] }
        #expect(code(try check(), strange) == nil)
        #expect(code(try check(keys: []), strange) == .unsupportedAlgorithm)
    }

    @Test func aShortRSAKeyIsNoKey() throws {
        let short = Base64URL.encode([UInt8](repeating: 0xC5, count: 128))
        let keys = JSONWebKeySet(
            parsing: Array(#"{"keys":[{"kty":"RSA","kid":"k","n":"\#(short)","e":"AQAB"}]}"#.utf8))
        let token = try token("RS256") { _ in [1] }
        var check = try check()
        check.keys = keys
        #expect(code(check, token) == .unknownKey)
    }

    @Test func anIssuerMayNameTheOrganisationOfTheUser() throws {
        let check = try check(issuers: ["https://login.example/{tid}/v2.0"])
        func token(_ issuer: String, _ tenant: String?) throws -> IDToken {
            var claims = ["iss": "\"\(issuer)\""]
            if let tenant { claims["tid"] = "\"\(tenant)\"" }
            return try self.token("X256", claims: claims) { _ in [1] }
        }
        #expect(code(check, try token("https://login.example/t-1/v2.0", "t-1")) == nil)
        #expect(code(check, try token("https://login.example/t-1/v2.0", "t-2")) == .issuer)
        #expect(code(check, try token("https://login.example/t-1/v2.0", nil)) == .issuer)
        #expect(code(check, try token("https://login.example/a/b/v2.0", "a/b")) == .issuer)
    }

    @Test func claimsHaveBounds() throws {
        let long = String(repeating: "x", count: 2_049)
        let claims = try check().claims(
            of: try token("X256", claims: ["a": "\"\(long)\"", "b": "[1]", "c": "{}", "d": "12.5", "e": "null"]) { _ in
                [1]
            })
        #expect(claims["d"] == "12.5")
        #expect(["a", "b", "c", "e"].allSatisfy { claims[$0] == nil })
        #expect(claims.names.contains("d") && !claims.names.contains("a"))
    }

    @Test func clocksMayDifferByAMinute() throws {
        var check = try check()
        let token = try token("X256") { _ in [1] }
        for (offset, expected) in [
            (359.0, nil), (360, IDTokenError.Code.expired), (-60, nil), (-61, .issuedInFuture),
        ] {
            check.now = Self.now.addingTimeInterval(offset)
            #expect(code(check, token) == expected)
        }
    }
}

struct ProviderAnswerTests {
    @Test func whatWasSentDoesNotComeBack() throws {
        let answer = ProviderAnswer(
            status: 400, error: OAuthErrorCode("bad_CANARY-token"),
            message: ServerMessage("CANARY-token and CANARY-token-2"), hiding: ["CANARY-token", "CANARY-token-2"])
        #expect(answer.words == "400 bad_[hidden]: [hidden] and [hidden]")
        #expect(answer.description == "400")
        #expect("\(answer) \(String(reflecting: answer))".contains("hidden") == false)
    }

    @Test func whatLooksLikeATokenIsLeftOut() throws {
        let opaque = String(repeating: "aB3_", count: 11)
        let answer = ProviderAnswer(
            status: nil, error: nil,
            message: ServerMessage("trace 5e4d2a10-0f6e-4f0e-9f1f-0123456789ab: token \(opaque) is gone"))
        #expect(answer.words == "trace 5e4d2a10-0f6e-4f0e-9f1f-0123456789ab: token [hidden] is gone")
    }
}
