import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// The certificate that a client shows, as it was registered itself (RFC 8705 §2.2).
public struct RegisteredCertificate: Sendable, Equatable {
    let thumbprint: String

    /// Takes a certificate in PEM, or a JWK with one in `x5c`. `nil` for anything else.
    public init?(_ text: String) {
        if case .object(let members)? = JSONValue.parse(text.utf8), case .array(let chain)? = members["x5c"],
            let first = chain.first?.string, let data = Data(base64Encoded: first)
        {
            guard (try? NIOSSLCertificate(bytes: Array(data), format: .der)) != nil else { return nil }
            thumbprint = ShownCertificate(der: Array(data)).thumbprint
            return
        }
        guard let certificate = try? NIOSSLCertificate(bytes: Array(text.utf8), format: .pem),
            let der = try? certificate.toDERBytes()
        else { return nil }
        thumbprint = ShownCertificate(der: der).thumbprint
    }
}

/// An authority that vouches for a client of this name (RFC 8705 §2.1.2, `tls_client_auth_subject_dn`).
public struct CertificateSubject: Sendable, Equatable {
    let subject: String
    private let authority: Certificate

    /// - Parameters:
    ///   - subject: As RFC 4514 writes it, such as `CN=app,O=Example`.
    ///   - authority: The authority's certificate in PEM. It must have signed the client's certificate itself.
    public init?(_ subject: String, authority: String) {
        guard let authority = try? Certificate(pemEncoded: authority) else { return nil }
        self.subject = subject
        self.authority = authority
    }

    /// Whether the authority has signed this certificate, which names the subject and holds now.
    func accepts(_ shown: ShownCertificate, at now: Date) -> Bool {
        guard let certificate = try? Certificate(derEncoded: shown.der) else { return false }
        return certificate.subject.description == subject && certificate.issuer == authority.subject
            && (certificate.notValidBefore...certificate.notValidAfter).contains(now)
            && authority.publicKey.isValidSignature(certificate.signature, for: certificate)
    }
}
