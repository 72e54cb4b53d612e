import Crypto
import FoundationEssentials

/// Makes codes, tokens and nonces, and names them without giving them away.
struct SecretSource: Sendable {
    var marker: String

    /// `length` characters of base64url, six random bits each, after a prefix that names the kind.
    func make(_ prefix: String, length: Int = 43) -> String {
        prefix + marker + Self.random(length: length)
    }

    static func random(length: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<(length * 3 + 3) / 4).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return String(Base64URL.encode(bytes).prefix(length))
    }
}

/// The first 64 bits of a SHA-256 in hexadecimal: enough to recognise a token, useless to present it.
public enum TokenFingerprint {
    public static func of(_ token: String) -> String {
        SHA256.hash(data: Data(token.utf8)).prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

/// Compares without telling by its duration where two strings differ.
func constantTimeEquals(_ left: String, _ right: String) -> Bool {
    let left = SHA256.hash(data: Data(left.utf8))
    let right = SHA256.hash(data: Data(right.utf8))
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
