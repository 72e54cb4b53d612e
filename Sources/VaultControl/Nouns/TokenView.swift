import Crypto
import FoundationEssentials
import OAuthClient
import TokenVault

/// The parts of a token that can be shown without revealing it.
enum TokenView {
    static func record(_ token: VaultToken, now: Date, isRevealed: Bool = false) -> OutputRecord {
        [Field("login", token.login)]
            + facts(token.tokenType, token.expiresAt, token.scope, now)
            + [Field("generation", token.generation)]
            + secret(token.accessToken, isRevealed)
    }

    static func record(_ token: ClientToken, now: Date, isRevealed: Bool = false) -> OutputRecord {
        [Field("provider", token.provider)]
            + facts(token.tokenType, token.expiresAt, token.scope, now)
            + [Field("resource", token.resource)]
            + secret(token.accessToken, isRevealed)
    }

    private static func facts(_ type: TokenType, _ expiresAt: Date?, _ scope: Scope?, _ now: Date) -> OutputRecord {
        [
            Field("tokenType", type.description),
            Field("expiresAt", expiresAt).orWords("unknown"),
            .data("expiresIn", expiresAt.map { Int(max(0, min($0.timeIntervalSince(now), 1e15))) }),
            Field("scope", scope?.description),
        ]
    }

    private static func secret(_ token: AccessToken, _ isRevealed: Bool) -> OutputRecord {
        [Field("fingerprint", fingerprint(token))] + (isRevealed ? [.data("accessToken", token.reveal())] : [])
    }

    /// Enough to distinguish two tokens, too little to find one: the first 64 bits of its SHA-256.
    private static func fingerprint(_ token: AccessToken) -> String {
        Hex.encode(SHA256.hash(data: Array(token.reveal().utf8)).prefix(8))
    }
}
