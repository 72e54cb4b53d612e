package import Crypto
package import FoundationEssentials
import SwiftASN1
import X509

/// A certificate made for a test, with its key.
package struct TestCertificate: Sendable {
    package let pem: String
    package let keyPEM: String
    private let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    package static let year: TimeInterval = 365 * 86_400

    /// - Parameters:
    ///   - name: Its common name.
    ///   - authority: Who signs it; nil: it signs itself, and may sign others.
    ///   - hosts: For which a server may use it.
    ///   - addresses: For which it may use it, too, each as its bytes.
    ///   - validity: When it holds: by default for a year, from an hour ago.
    package init(
        _ name: String, signedBy authority: TestCertificate? = nil, hosts: [String] = [],
        addresses: [[UInt8]] = [], validity: ClosedRange<Date>? = nil,
        key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) throws {
        let now = Date()
        let validity = validity ?? now.addingTimeInterval(-3_600)...now.addingTimeInterval(Self.year)
        let subject = try DistinguishedName { CommonName(name) }
        self.key = key
        certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: validity.lowerBound, notValidAfter: validity.upperBound,
            issuer: authority?.certificate.subject ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                if authority == nil { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) }
                if !hosts.isEmpty || !addresses.isEmpty {
                    SubjectAlternativeNames(
                        hosts.map { .dnsName($0) }
                            + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) })
                }
            },
            issuerPrivateKey: .init(authority?.key ?? key))
        pem = try certificate.serializeAsPEM().pemString
        keyPEM = key.pemRepresentation
    }

    package var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
    }

    /// Runs `body` with a file that holds the certificate.
    package func withFile<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let path = FileManager.default.temporaryDirectory.path + "/certificate-\(UUID().uuidString).pem"
        try Data(pem.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }
}
