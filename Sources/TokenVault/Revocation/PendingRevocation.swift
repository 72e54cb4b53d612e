package import FoundationEssentials
import VaultStorage

/// Identifies a revocation that is not confirmed yet. Random; not a secret.
package struct RevocationID: Hashable, Sendable, LosslessStringConvertible {
    let handle: OutboxHandle

    init(_ handle: OutboxHandle) { self.handle = handle }

    /// 26 lower-case base32 characters; nil for anything else.
    package init?(_ description: String) {
        guard let handle = OutboxHandle(text: description) else { return nil }
        self.handle = handle
    }

    package var description: String { handle.text }
}

/// A token that is unusable here and waits for its provider to confirm its end there, too.
package struct PendingRevocation: Sendable, Equatable {
    /// The token to revoke.
    package enum Token: String, Sendable, Equatable {
        case refreshToken
        case accessToken
    }

    package let id: RevocationID
    /// The login whose token it was; nil if it never became one.
    package let login: LoginID?
    /// Nil if the provider is no longer in the vault.
    package let provider: String?
    package let token: Token
    package let createdAt: Date
    /// Tries that failed so far.
    package let attempts: Int
    package let nextAttemptAt: Date

    init(_ entry: StoredOutboxEntry, provider: String?) {
        id = RevocationID(entry.handle)
        login = entry.record.login.map { LoginID($0) }
        self.provider = provider
        token = entry.record.refreshToken == nil ? .accessToken : .refreshToken
        createdAt = entry.record.createdAt.date
        attempts = entry.attempts
        nextAttemptAt = entry.nextAttemptAt.date
    }
}

/// One row of the outbox. A damaged one hides nothing after it.
package enum PendingRevocationEntry: Sendable, Equatable {
    case pending(PendingRevocation)
    /// The row cannot be opened, with the reason; without an id if not even that can be read.
    case damaged(RevocationID?, String)

    /// Whether it cannot be sent, because its provider is no longer in the vault.
    package var isOfRemovedProvider: Bool {
        if case .pending(let entry) = self { entry.provider == nil } else { false }
    }
}

/// A part of the outbox.
package struct PendingRevocationPage: Sendable, Equatable {
    /// Where a page ended.
    package struct Cursor: Sendable, Equatable {
        let sequence: Int64
    }

    package let entries: [PendingRevocationEntry]
    /// Where the next page begins; nil after the last.
    package let next: Cursor?
}
