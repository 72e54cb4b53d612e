import Crypto
import FoundationEssentials
import OAuthClient
import TokenVault

/// What can be told of a token without telling the token.
enum TokenFacts {
    static func facts(_ token: VaultToken, now: Date) -> Facts {
        var facts = Facts()
        facts.add("login", token.login.description)
        facts.add("type", token.tokenType.description)
        facts.add("expires", token.expiresAt.map { Instant.words($0, now: now) } ?? "unknown")
        facts.add("scope", token.scope)
        facts.add("generation", String(token.generation))
        facts.add("fingerprint", fingerprint(token))
        return facts
    }

    static func json(_ token: VaultToken, now: Date, isRevealed: Bool = false) -> JSONValue {
        let seconds = token.expiresAt.map { $0.timeIntervalSince(now) }
        var members: [(String, JSONValue)] = [
            ("login", .string(token.login.description)), ("tokenType", .string(token.tokenType.description)),
            ("expiresAt", Instant.json(token.expiresAt)),
            ("expiresIn", seconds.map { .integer(Int(max(0, min($0, 1e15)))) } ?? .null),
            ("scope", JSONValue(token.scope)), ("generation", .integer(token.generation)),
            ("fingerprint", .string(fingerprint(token))),
        ]
        if isRevealed {
            members.append(("accessToken", .string(token.accessToken.reveal())))
        }
        return .object(members)
    }

    /// Enough to tell two tokens apart, too little to find one: the first 64 bits of its SHA-256.
    private static func fingerprint(_ token: VaultToken) -> String {
        SHA256.hash(data: Array(token.accessToken.reveal().utf8)).prefix(8)
            .map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            .joined()
    }
}
