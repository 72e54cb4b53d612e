import Crypto

/// The certificate that a client showed when it opened its TLS connection. Whose it is, is not known yet.
struct ShownCertificate: Sendable, Equatable {
    let der: [UInt8]
    /// `x5t#S256` (RFC 8705 §3.1).
    let thumbprint: String

    init(der: [UInt8]) {
        self.der = der
        thumbprint = Base64URL.encode(SHA256.hash(data: der))
    }
}
