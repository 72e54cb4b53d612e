import Crypto
import FoundationEssentials
import OAuthClient

extension Workload {
    /// DPoP proofs, and bare ES256 signatures of as many bytes with a key at hand, in turns. Prints
    /// `nanoseconds-per-proof nanoseconds-per-signature`.
    static func prove(_ count: Int) throws {
        let key = DPoPKey.generate()
        let bare = P256.Signing.PrivateKey()
        let token = try AccessToken(String(repeating: "x", count: 1_000))
        let url = "https://api.example/v1/accounts/me"
        func proof() throws -> String {
            try DPoPProof.sign(key: key, method: .get, url: url, issuedAt: Date(), accessToken: token).rawValue
        }
        let input = Data(try proof().split(separator: ".").prefix(2).joined(separator: ".").utf8)
        let pieces = 10
        var (proofs, signatures, bytes) = (Duration.zero, Duration.zero, 0)
        for _ in 0..<pieces {
            proofs += try ContinuousClock().measure {
                for _ in 0..<count / pieces { bytes += try proof().utf8.count }
            }
            signatures += try ContinuousClock().measure {
                for _ in 0..<count / pieces { bytes += try bare.signature(for: input).rawRepresentation.count }
            }
        }
        precondition(bytes > 0)
        let each = Double(count / pieces * pieces)
        print("\(proofs / .nanoseconds(1) / each) \(signatures / .nanoseconds(1) / each)")
    }
}
