import Crypto
import CryptoExtras
public import FoundationEssentials

/// The certificate that a client presents when it opens a TLS connection, and its private key (RFC 8705).
///
/// ```swift
/// import Foundation
/// import OAuthClient
///
/// let certificate = try ClientCertificate(
///     chainPEM: String(contentsOfFile: "client.pem", encoding: .utf8),
///     keyPEM: String(contentsOfFile: "client.key", encoding: .utf8))
/// ```
///
/// The initializer fails unless key and certificate belong together. Whether a server accepts the certificate is up to
/// the server.
public struct ClientCertificate: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// DER, the client's own certificate first.
    package let chain: [[UInt8]]
    private let keyPEM: String
    /// SHA-256 of the whole chain.
    package let fingerprint: String
    /// SHA-256 of the client's own certificate, in the form of a bound token's `cnf`: `x5t#S256` (RFC 8705 §3.1).
    public let thumbprint: String
    public let notValidBefore: Date
    public let notValidAfter: Date
    /// Whether the issuer equals the subject.
    public let isSelfSigned: Bool

    static let longestPEM = 65_536
    static let longestChain = 8

    /// Takes the client's certificate, followed by those of its authorities, and its key: P-256, P-384 or P-521 (SEC 1
    /// or PKCS #8), or RSA of at least 2048 bits (PKCS #1 or PKCS #8).
    ///
    /// - Parameters:
    ///   - chainPEM: One to eight certificates in PEM, and nothing else.
    ///   - keyPEM: The private key in PEM, not encrypted.
    /// - Throws: ``OAuthValueError``; `mismatched` if the key does not belong to the certificate.
    public init(chainPEM: String, keyPEM: String) throws(OAuthValueError) {
        let subject = "client certificate"
        guard chainPEM.utf8.count <= Self.longestPEM, keyPEM.utf8.count <= Self.longestPEM else {
            throw OAuthValueError(.tooLong, subject)
        }
        let blocks = PEMBlock.all(in: chainPEM)
        let chain = blocks.compactMap { $0.label == "CERTIFICATE" ? $0.bytes : nil }
        guard chain.count == blocks.count, (1...Self.longestChain).contains(chain.count) else {
            throw OAuthValueError(.malformed, subject)
        }
        var own: CertificateFields?
        for der in chain {
            guard let fields = CertificateFields(der: der) else { throw OAuthValueError(.malformed, subject) }
            own = own ?? fields
        }
        guard let own else { throw OAuthValueError(.malformed, subject) }
        let keys = PEMBlock.all(in: keyPEM).filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard keys.count == 1, let key = keys.first, let pair = Self.keyPair(key.text) else {
            throw OAuthValueError(.malformed, "key of the client certificate")
        }
        guard pair.publicKey == own.publicKey else {
            throw OAuthValueError(.mismatched, "key of the client certificate")
        }
        self.chain = chain
        self.keyPEM = pair.privateKey
        fingerprint = Base64URL.encode(SHA256.hash(data: chain.flatMap(\.self)))
        thumbprint = Base64URL.encode(SHA256.hash(data: chain[0]))
        notValidBefore = own.notValidBefore
        notValidAfter = own.notValidAfter
        isSelfSigned = own.isSelfIssued
    }

    private static func keyPair(_ pem: String) -> (privateKey: String, publicKey: [UInt8])? {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            return (key.pemRepresentation, [UInt8](key.publicKey.derRepresentation))
        }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            return (key.pemRepresentation, [UInt8](key.publicKey.derRepresentation))
        }
        if let key = try? P521.Signing.PrivateKey(pemRepresentation: pem) {
            return (key.pemRepresentation, [UInt8](key.publicKey.derRepresentation))
        }
        if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) {
            return (key.pemRepresentation, [UInt8](key.publicKey.derRepresentation))
        }
        return nil
    }

    /// Whether the issuer of the first certificate equals its subject; nil if it cannot be read.
    package static func isSelfSigned(chainPEM: String) -> Bool? {
        PEMBlock.all(in: chainPEM).first?.bytes.flatMap { CertificateFields(der: $0)?.isSelfIssued }
    }

    /// The certificates in PEM, the client's own first. No secret.
    public var chainPEM: String { chain.map { PEMBlock.text("CERTIFICATE", $0) }.joined(separator: "\n") + "\n" }

    /// The private key in PEM. Never log it.
    public func revealKeyPEM() -> String { keyPEM }

    public var description: String { "<client certificate \(thumbprint)>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child](), displayStyle: .struct) }
}

extension ClientCertificate: Hashable {
    /// The fingerprint suffices, because a certificate has one key.
    public static func == (one: Self, other: Self) -> Bool { one.fingerprint == other.fingerprint }
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}
