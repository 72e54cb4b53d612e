import HummingbirdTLS
import NIOCore
import NIOSSL

/// A second address, with TLS, on which clients may show certificates (RFC 8705). Discovery names it in
/// `mtls_endpoint_aliases`.
///
/// Any certificate is let in: whether it is the client's, the endpoints decide.
public struct TLSListener: Sendable {
    let configuration: TLSConfiguration
    /// Port on 127.0.0.1; 0 takes a free one.
    public var port: Int

    /// - Parameters:
    ///   - certificate: The server's own certificate in PEM, for `localhost`.
    ///   - key: Its private key in PEM.
    ///   - port: Port on 127.0.0.1; 0 takes a free one.
    /// - Throws: what TLS says of the two.
    public init(certificate: String, key: String, port: Int = 0) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.certificateVerification = .optionalVerification
        self.configuration = configuration
        self.port = port
    }

    var channel: TLSChannelConfiguration {
        TLSChannelConfiguration(tlsConfiguration: configuration) { _, promise in promise.succeed(.certificateVerified) }
    }
}
