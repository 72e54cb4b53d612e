import Crypto
import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

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

    /// Requests that carry a bound token, of users who have been read before, and as many proofs alone, in turns: each with a key
    /// that is made of its bytes, as a vault has it. Prints the difference.
    func authorize(_ order: [String]) async throws {
        let users = try await users(of: open())
        let url = "https://api.example/v1/accounts/me"
        let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example", path: "/v1/accounts/me")
        let key = DPoPKey.generate().revealRawRepresentation()
        let token = try AccessToken(String(repeating: "x", count: 1_000))
        for user in order { _ = try await users.authorize(request, for: .user(user)) }
        var (requests, proofs) = (Duration.zero, Duration.zero)
        var bytes = 0
        for user in order {
            requests += try await ContinuousClock().measure {
                bytes += try await users.authorize(request, for: .user(user)).request.headerFields.count
            }
            proofs += try ContinuousClock().measure {
                bytes += try DPoPProof.sign(
                    key: DPoPKey(rawRepresentation: key), method: .get, url: url, issuedAt: Date(), accessToken: token
                ).rawValue.utf8.count
            }
        }
        report(requests - proofs, order.count, bytes)
    }
}
