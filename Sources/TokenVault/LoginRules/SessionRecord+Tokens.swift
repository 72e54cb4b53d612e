import VaultCrypto
import VaultStorage

extension TokenTarget {
    /// Everything that was granted: the login's own access token.
    static let own = TokenTarget()

    var isOwn: Bool { self == .own }
}

/// One of the access tokens of a login: its own, or one for a single resource.
struct StoredToken: Sendable {
    let accessToken: SecretBytes
    let tokenType: String
    let scope: String?
    let obtainedAt: Timestamp
    let expiresAt: Timestamp?
    let isExpiryAssumed: Bool
    /// Which renewal brought it. Each generation brings one token.
    let generation: Int64
    let isRejected: Bool
}

extension StoredToken {
    /// Nil if there is none for this target.
    @inline(__always)
    init?(_ target: TokenTarget, in session: SessionRecord, at position: ChainPosition) {
        guard target.isOwn else {
            guard let token = session.resourceTokens.first(where: { $0.target == target }) else { return nil }
            self.init(token)
            return
        }
        guard let accessToken = session.accessToken else { return nil }
        let generation = session.accessGeneration ?? position.generation
        self.init(
            accessToken: accessToken, tokenType: session.tokenType, scope: session.scope,
            obtainedAt: session.obtainedAt, expiresAt: session.expiresAt, isExpiryAssumed: session.isExpiryAssumed,
            generation: generation, isRejected: session.rejectedGeneration == generation)
    }

    private init(_ token: TokenRecord) {
        self.init(
            accessToken: token.accessToken, tokenType: token.tokenType, scope: token.scope,
            obtainedAt: token.obtainedAt, expiresAt: token.expiresAt, isExpiryAssumed: token.isExpiryAssumed,
            generation: token.generation, isRejected: token.isRejected)
    }
}

extension SessionRecord {
    /// Tokens for single resources that one login keeps; the soonest expired goes first.
    static let mostResourceTokens = 16
    /// All of them together: they are read with every token of the login.
    static let mostResourceTokenBytes = 65_536

    /// Takes a token in, in the place of the one before for the same target.
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

    /// Whether the first token runs out before the second; one that never does, as far as is known, after all others.
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
    /// Notes that a resource server refused this token.
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
