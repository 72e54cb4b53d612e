import Crypto
import FoundationEssentials
import OAuthClient
import TokenVault

/// What can be shown of a token without revealing it.
enum TokenFacts {
    static func sheet(_ token: VaultToken, now: Date, isRevealed: Bool = false) -> Sheet {
        let seconds = token.expiresAt.map { Int(max(0, min($0.timeIntervalSince(now), 1e15))) }
        let sheet: Sheet = [
            Field("login", token.login),
            Field("tokenType", token.tokenType.description),
            Field("expiresAt", token.expiresAt).orWords("unknown"),
            .data("expiresIn", seconds),
            Field("scope", token.scope?.description),
            Field("generation", token.generation),
            Field("fingerprint", fingerprint(token)),
        ]
        return isRevealed ? sheet + [.data("accessToken", token.accessToken.reveal())] : sheet
    }

    /// Enough to distinguish two tokens, too little to find one: the first 64 bits of its SHA-256.
    private static func fingerprint(_ token: VaultToken) -> String {
        SHA256.hash(data: Array(token.accessToken.reveal().utf8)).prefix(8)
            .map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            .joined()
    }
}
