package import VaultCrypto

/// A server's reply to a refresh token that could not be used. It may hold the only copy of the next token.
package struct UnusableReplyRecord: Equatable, Sendable {
    package static let mostBodyBytes = 65_536
    /// The maximum number of replies of one login; the oldest is removed first.
    package static let mostOfALogin = 8
    /// The time for which a reply is kept. After that no server accepts a token that such a reply may hold.
    package static let longestKept = Duration.seconds(7 * 86_400)

    package let handle: ReplyHandle
    package var login: LoginHandle
    /// The link whose refresh token was sent.
    package var position: ChainPosition
    /// The fence of the intent under which it was sent.
    package var fence: Int64
    package var receivedAt: Timestamp
    package var status: Int
    package var contentType: String?
    /// The reason why it was not usable. It never contains text from the server.
    package var cause: String
    /// Whether the body is everything that the server sent.
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

/// One kept reply. A damaged one is listed with its error and hides no later one.
package struct UnusableReplyListing: Equatable, Sendable {
    package let handle: ReplyHandle?
    package let record: UnusableReplyRecord?
    package let damage: StoreError?
}
