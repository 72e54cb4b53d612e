import Crypto
import CryptoExtras
package import FoundationEssentials

/// The private key that authenticates a client: `private_key_jwt` (RFC 7523 §2.2).
public struct ClientAssertionKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The signature algorithm (RFC 7518 §3.1).
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case es256 = "ES256"
        case rs256 = "RS256"
        case ps256 = "PS256"
    }

    private enum SigningKey: Sendable {
        case p256(P256.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    private let signingKey: SigningKey
    public let algorithm: Algorithm
    /// The id of this key among the client's registered keys; sent as `kid`.
    public let keyID: String?
    /// The DER of the certificate that was registered for the key.
    private let certificate: [UInt8]?

    static let longestPEM = 32_768

    /// Takes a P-256 key (SEC 1 or PKCS #8) or an RSA key of at least 2048 bits (PKCS #1 or PKCS #8) in PEM. If the
    /// key's certificate is in the same text, its SHA-256 thumbprint is sent as `x5t#S256`: some providers identify
    /// keys by it.
    ///
    /// - Parameters:
    ///   - pem: The private key, and its certificate if it has one, in at most 32 KiB.
    ///   - keyID: The id of this key among the client's registered keys, sent as `kid` (RFC 7515 §4.1.4); nil sends
    ///     none.
    ///   - algorithm: By default `ES256` for a P-256 key and `RS256` for an RSA key (RFC 7518 §3.1).
    /// - Throws: ``OAuthValueError`` for a key that is too long, too short, malformed, of another kind, or not that of the
    ///   certificate.
    public init(pem: String, keyID: String? = nil, algorithm: Algorithm? = nil) throws(OAuthValueError) {
        guard pem.utf8.count <= Self.longestPEM else { throw OAuthValueError(.tooLong, "client key") }
        let blocks = PEMBlock.all(in: pem)
        let keys = blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
        let certificates = blocks.filter { $0.label == "CERTIFICATE" }
        guard keys.count == 1, let key = keys.first, keys.count + certificates.count == blocks.count else {
            throw OAuthValueError(.malformed, "client key")
        }
        let publicKey: Data
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: key.text) {
            signingKey = .p256(key)
            publicKey = key.publicKey.derRepresentation
        } else if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: key.text) {
            signingKey = .rsa(key)
            publicKey = key.publicKey.derRepresentation
        } else {
            throw Self.refusal(of: key.text)
        }
        self.algorithm = try Self.algorithm(algorithm, for: signingKey)
        // The first certificate is the key's own; the others may be its authorities'.
        certificate = certificates.first?.bytes
        if !certificates.isEmpty {
            guard let certificate, certificate.contains([UInt8](publicKey)) else {
                throw OAuthValueError(.mismatched, "key of the client certificate")
            }
        }
        if let keyID {
            _ = try SecretGrammar.requireVisible(keyID, "client key id")
            guard keyID.utf8.count <= 256 else { throw OAuthValueError(.tooLong, "client key id") }
        }
        self.keyID = keyID
    }

    private static func refusal(of pem: String) -> OAuthValueError {
        let isWeak = (try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem)) != nil
        let isOnOtherCurve =
            (try? P384.Signing.PrivateKey(pemRepresentation: pem)) != nil
            || (try? P521.Signing.PrivateKey(pemRepresentation: pem)) != nil || isEdwards(pem)
        return OAuthValueError(isWeak ? .tooShort : isOnOtherCurve ? .otherCurve : .malformed, "client key")
    }

    /// Whether it is an Ed25519 or an Ed448 key (RFC 8410 §3).
    private static func isEdwards(_ pem: String) -> Bool {
        guard let bytes = PEMBlock.all(in: pem).first?.bytes else { return false }
        return [0x70, 0x71].contains { bytes.contains([0x06, 0x03, 0x2B, 0x65, $0]) }
    }

    private static func algorithm(_ asked: Algorithm?, for key: SigningKey) throws(OAuthValueError) -> Algorithm {
        switch (key, asked) {
        case (.p256, nil), (.p256, .es256?): return .es256
        case (.rsa, nil), (.rsa, .rs256?): return .rs256
        case (.rsa, .ps256?): return .ps256
        default: throw OAuthValueError(.malformed, "algorithm of the client key")
        }
    }

    /// Whether it is an RSA key, which can sign in more than one way.
    public var isRSA: Bool { if case .rsa = signingKey { true } else { false } }

    /// The same key with another signature algorithm.
    public func signing(by algorithm: Algorithm) throws(OAuthValueError) -> ClientAssertionKey {
        try ClientAssertionKey(pem: revealPEM(), keyID: keyID, algorithm: algorithm)
    }

    /// The SHA-256 of the certificate (RFC 7515 §4.1.8), if there is one.
    public var certificateThumbprint: String? {
        certificate.map { Base64URL.encode(SHA256.hash(data: $0)) }
    }

    /// When the certificate expires; nil if there is none, or it cannot be read.
    package var certificateExpiresAt: Date? {
        certificate.flatMap { CertificateFields(der: $0) }?.notValidAfter
    }

    func signature(for input: [UInt8]) throws(OAuthValueError) -> [UInt8] {
        do {
            switch signingKey {
            case .p256(let key): return [UInt8](try key.signature(for: input).rawRepresentation)
            case .rsa(let key):
                let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
                return [UInt8](
                    try key.signature(for: SHA256.hash(data: input), padding: padding).rawRepresentation)
            }
        } catch {
            throw OAuthValueError(.malformed, "client key")
        }
    }

    /// The private key in PEM, and its certificate. Never log it.
    public func revealPEM() -> String {
        let key =
            switch signingKey {
            case .p256(let key): key.pemRepresentation
            case .rsa(let key): key.pemRepresentation
            }
        return certificate.map { key + "\n" + PEMBlock.text("CERTIFICATE", $0) } ?? key
    }

    /// A JWK set with the public key, for the client's registration (RFC 7591 §2).
    public var jwks: String { Self.jwks(of: [self]) }

    /// A JWK set with the public key of each.
    package static func jwks(of keys: [ClientAssertionKey]) -> String {
        #"{"keys":["# + keys.compactMap(\.publicJWK).joined(separator: ",") + "]}"
    }

    private var publicJWK: String? {
        var members = [(name: "use", value: "sig"), (name: "alg", value: algorithm.rawValue)]
        if let keyID { members.append((name: "kid", value: keyID)) }
        return PublicJWK.text(
            privateKeyPEM: revealPEM(), members: members, certificates: certificate.map { [$0] } ?? [])
    }

    /// Identifies the key pair in comparisons of keys.
    package var publicKeyPEM: String {
        switch signingKey {
        case .p256(let key): key.publicKey.pemRepresentation
        case .rsa(let key): key.publicKey.pemRepresentation
        }
    }

    public static func == (one: ClientAssertionKey, other: ClientAssertionKey) -> Bool {
        one.keyID == other.keyID && one.algorithm == other.algorithm && one.certificate == other.certificate
            && one.publicKeyPEM == other.publicKeyPEM
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(keyID)
        hasher.combine(publicKeyPEM)
    }

    public var description: String { "<client key>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}
