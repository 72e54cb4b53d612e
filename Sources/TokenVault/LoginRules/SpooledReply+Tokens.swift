import OAuthClient
import VaultCrypto
import VaultStorage

extension SpooledReply {
    /// The revocation of tokens that cannot be used; nil for tokens that no provider made.
    ///
    /// Its name follows from the attempt, so that the same reply is queued only once, however often it is found.
    func revocation(at now: Timestamp) -> OutboxRecord? {
        guard let provider, refreshToken != nil || accessToken != nil else { return nil }
        return OutboxRecord(
            handle: OutboxHandle(lateReplyOf: login, fence: fence), provider: provider, login: login, user: user,
            refreshToken: refreshToken, accessToken: refreshToken == nil ? accessToken : nil,
            dpopPrivateKey: dpopPrivateKey, nonces: nonces, attributes: attributes, createdAt: now)
    }
}

extension OutboxHandle {
    /// The login's random name, modified by the fence, which is used once in the life of a vault.
    init(lateReplyOf login: LoginHandle, fence: Int64) {
        var bytes = login.bytes.array
        for index in 0..<8 { bytes[8 + index] ^= UInt8(truncatingIfNeeded: fence >> (8 * index)) }
        // Never the login's own name: its first byte is changed too.
        bytes[0] ^= 0xA5
        self.init(Bytes16(bytes) ?? login.bytes)
    }
}

extension RenewalClaim {
    /// The claim of an attempt whose reply was found in the spool.
    init(_ reply: SpooledReply) {
        self.init(position: reply.position, fence: reply.fence, method: .grant, isInDoubt: false)
    }
}
