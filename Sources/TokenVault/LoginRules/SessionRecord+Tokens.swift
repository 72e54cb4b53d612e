import VaultCrypto
import VaultStorage

extension TokenTarget {
    /// Everything that was granted: the login's own access token.
    static let own = TokenTarget()

    var isOwn: Bool { resource == nil && scope == nil }
}

extension SessionRecord {
    /// The access token for this target; nil if there is none. The login's own is in the session record's fields.
    func token(_ target: TokenTarget, at position: ChainPosition) -> TokenRecord? {
        guard target.isOwn else { return resourceTokens.first { $0.target == target } }
        guard let accessToken else { return nil }
        let generation = accessGeneration ?? position.generation
        var token = TokenRecord(
            target: target, accessToken: accessToken, tokenType: tokenType, scope: scope, obtainedAt: obtainedAt,
            expiresAt: expiresAt, generation: generation)
        token.isExpiryAssumed = isExpiryAssumed
        token.isRejected = rejectedGeneration == generation
        return token
    }
}

/// The times that decide about a stored access token.
struct TokenTimes: Sendable {
    let generation: Int64
    let obtainedAt: Timestamp
    let expiresAt: Timestamp?
}

extension SessionRecord {
    /// The times of the access token for this target; nil if there is none, or if a resource server refused it.
    @inline(__always)
    func times(_ target: TokenTarget, at position: ChainPosition) -> TokenTimes? {
        guard target.isOwn else {
            guard let token = token(target, at: position), !token.isRejected else { return nil }
            return TokenTimes(
                generation: token.generation, obtainedAt: token.obtainedAt, expiresAt: token.expiresAt)
        }
        let generation = accessGeneration ?? position.generation
        guard accessToken != nil, rejectedGeneration != generation else { return nil }
        return TokenTimes(generation: generation, obtainedAt: obtainedAt, expiresAt: expiresAt)
    }
}

extension SessionRecord {
    /// Tokens for single resources that one login keeps; the soonest expired goes first.
    static let mostResourceTokens = 16
    /// Their total size: they are read with every token of the login.
    static let mostResourceTokenBytes = 65_536

    /// Keeps a token, in place of the previous one for the same target.
    mutating func keep(_ token: TokenRecord) {
        let now = token.obtainedAt
        resourceTokens.removeAll { old in
            old.target == token.target || old.expiresAt.map { $0 <= now } ?? false
        }
        while resourceTokens.count >= Self.mostResourceTokens
            || resourceTokens.reduce(token.accessToken.count, { $0 + $1.accessToken.count })
                > Self.mostResourceTokenBytes,
            let first = resourceTokens.indices.min(by: { earlier($0, $1) })
        {
            resourceTokens.remove(at: first)
        }
        resourceTokens.append(token)
    }

    /// Whether the first token expires before the second; one without a known expiry comes last.
    private func earlier(_ first: Int, _ second: Int) -> Bool {
        let (one, other) = (resourceTokens[first].expiresAt, resourceTokens[second].expiresAt)
        guard let one else { return false }
        return other.map { one < $0 } ?? true
    }
}

extension SpooledReply {
    var target: TokenTarget { TokenTarget(resource: resource, scope: requestedScope) }
}

extension SessionRecord {
    /// Records that a resource server refused this token.
    mutating func reject(_ target: TokenTarget, _ generation: Int64) {
        guard !target.isOwn else {
            rejectedGeneration = generation
            return
        }
        for index in resourceTokens.indices where resourceTokens[index].target == target {
            resourceTokens[index].isRejected = true
        }
    }
}
