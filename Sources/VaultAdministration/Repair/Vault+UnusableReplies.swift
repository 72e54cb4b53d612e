package import TokenVault
import VaultStorage

extension Vault {
    /// Unusable replies to renewals of this login, in the order of arrival. Damaged ones are left out.
    package func unusableReplies(of login: LoginID) async throws -> [UnusableReply] {
        try await VaultError.translating {
            let stored = try await store.login(login.handle)
            let now = now
            return try await store.unusableReplies(of: login.handle).compactMap(\.record).filter { !$0.isAged(at: now) }
                .map { UnusableReply($0, isCurrent: $0.isFor(stored.position)) }
        }
    }

    func unusableReply(_ id: UnusableReplyID, of login: LoginID) async throws -> UnusableReplyRecord {
        let found = try await VaultError.translating {
            try await store.unusableReplies(of: login.handle).first { $0.handle == id.handle }
        }
        if let damage = found?.damage { throw VaultError(damage) }
        guard let record = found?.record, !record.isAged(at: now) else {
            throw VaultError(.unknownReply, "the login has no such kept reply", hint: "it may have been renewed since")
        }
        return record
    }
}

extension UnusableReplyRecord {
    func isFor(_ current: ChainPosition) -> Bool { position == current }

    func isAged(at now: Timestamp) -> Bool { now.since(receivedAt) >= Self.longestKept }
}
