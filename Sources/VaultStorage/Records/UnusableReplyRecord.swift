package import VaultCrypto

/// What a server answered to a refresh token, but which could not be used: it may hold the only copy of the next one.
package struct UnusableReplyRecord: Equatable, Sendable {
    package static let mostBodyBytes = 65_536
    /// Of one login; the oldest goes first.
    package static let mostOfALogin = 8
    /// After so long no server still accepts a token that such a reply may hold.
    package static let longestKept = Duration.seconds(7 * 86_400)

    package let handle: ReplyHandle
    package var login: LoginHandle
    /// The link whose refresh token was sent.
    package var position: ChainPosition
    /// Of the intent under which it was sent.
    package var fence: Int64
    package var receivedAt: Timestamp
    package var status: Int
    package var contentType: String?
    /// Why it was not usable. Never text of the server.
    package var cause: String
    /// Whether the body is all that the server sent.
    package var isComplete: Bool
    package var body: SecretBytes

    package init(
        handle: ReplyHandle = .random(), login: LoginHandle, position: ChainPosition, fence: Int64,
        receivedAt: Timestamp, status: Int, contentType: String?, cause: String, isComplete: Bool, body: [UInt8]
    ) {
        self.handle = handle
        self.login = login
        self.position = position
        self.fence = fence
        self.receivedAt = receivedAt
        self.status = status
        self.contentType = contentType
        self.cause = cause
        self.isComplete = isComplete && body.count <= Self.mostBodyBytes
        self.body = SecretBytes(copying: Array(body.prefix(Self.mostBodyBytes)))
    }
}

/// One kept reply. A damaged one is listed with what is wrong, and hides nothing after it.
package struct UnusableReplyListing: Equatable, Sendable {
    package let handle: ReplyHandle?
    package let record: UnusableReplyRecord?
    package let damage: StoreError?
}
