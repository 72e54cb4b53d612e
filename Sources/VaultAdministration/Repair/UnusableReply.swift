package import FoundationEssentials
import OAuthClient
package import TokenVault
import VaultCrypto
import VaultStorage

/// Identifies a kept reply. Random; not a secret.
package struct UnusableReplyID: Hashable, Sendable, LosslessStringConvertible {
    let handle: ReplyHandle

    init(_ handle: ReplyHandle) { self.handle = handle }

    /// 26 lower-case base32 characters; nil for anything else.
    package init?(_ description: String) {
        guard let handle = ReplyHandle(text: description) else { return nil }
        self.handle = handle
    }

    package var description: String { handle.text }
}

/// An unusable answer to a renewal. It is kept, sealed, for a week or until the login is
/// renewed, because it may hold the only copy of the login's next refresh token.
package struct UnusableReply: Sendable, Equatable {
    package let id: UnusableReplyID
    package let login: LoginID
    package let receivedAt: Date
    /// The HTTP status.
    package let status: Int
    /// The `Content-Type` field as the provider sent it: untrusted text.
    package let contentType: String?
    /// Why it was not usable.
    package let cause: String
    /// The size of the kept part of the body, at most 64 KiB.
    package let byteCount: Int
    /// Whether that is the whole body.
    package let isComplete: Bool
    /// How many different refresh tokens can be read in it, by guess.
    package let refreshTokenCount: Int
    /// Whether it came for the login's current link, so that it may be used.
    package let isCurrent: Bool

    init(_ record: UnusableReplyRecord, isCurrent: Bool) {
        id = UnusableReplyID(record.handle)
        login = LoginID(record.login)
        receivedAt = record.receivedAt.date
        status = record.status
        contentType = record.contentType
        cause = record.cause
        byteCount = record.body.count
        isComplete = record.isComplete
        refreshTokenCount = record.refreshTokens.count
        self.isCurrent = isCurrent
    }
}

extension UnusableReplyRecord {
    var bodyBytes: [UInt8] { unsafe body.withUnsafeBytes { unsafe Array($0) } }

    var refreshTokens: [RefreshToken] { SalvagedTokens.find(in: bodyBytes, isComplete: isComplete) }
}
