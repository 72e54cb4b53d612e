import Foundation
import HTTPTypes
import OAuthClient
import Testing

/// Signs proofs for a verifier by other people, `scripts/proofs/interop/dpop_proof_check.py`, where `TOKENVAULT_PROOF_OUT` names
/// a file for them.
struct ProofInteropTests {
    static let urls = [
        "https://api.example/", "https://api.example", "https://api.example?q=1", "https://api.example/a/b?c=d#e",
        "HTTPS://API.Example:443/Path", "https://api.example:8443/x", "http://127.0.0.1:8080/t%6Fken",
        "https://api.example/a%2Fb%20c/%C3%BC", "https://[2001:db8::1]:444/v6", "http://api.example:80/",
        "https://api.example/a//b/", "https://api.example/a;b=c,d/~e!$&'()*+", "https://xn--bcher-kva.example/",
    ]

    @Test func proofsForAVerifierByOthers() throws {
        let key = DPoPKey.generate()
        let issuedAt = Int(Date().timeIntervalSince1970)
        var lines = ""
        for url in Self.urls {
            for method in [HTTPRequest.Method.get, .post, .delete] {
                for token in [nil, "token-\(method.rawValue).~+/=="] {
                    let nonce = token == nil ? nil : "n0nce!#$%&'()*+,-./:;<=>?@[]^_`{|}~"
                    let proof = try DPoPProof.sign(
                        key: key, method: method, url: url, issuedAt: Date(timeIntervalSince1970: Double(issuedAt)),
                        nonce: nonce.flatMap { DPoPNonce($0) }, accessToken: token.map { try AccessToken($0) })
                    var line: [String: Any] = [
                        "proof": proof.rawValue, "method": method.rawValue, "url": url, "issuedAt": issuedAt,
                        "thumbprint": key.thumbprint.rawValue,
                    ]
                    line["nonce"] = nonce
                    line["accessToken"] = token
                    lines += String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self) + "\n"
                }
            }
        }
        #expect(lines.split(separator: "\n").count == Self.urls.count * 6)
        if let path = ProcessInfo.processInfo.environment["TOKENVAULT_PROOF_OUT"] {
            try lines.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }
}
