package import FoundationEssentials
package import TokenVault
import VaultStorage

/// The index key of a vault, which serves to find users, providers and pending log-ins.
package struct IndexKeyStatus: Sendable, Hashable {
    /// When it was made: with the vault, or by a replacement.
    package let madeAt: Date
    /// Whether a replacement was begun and is not complete: the former key still exists.
    package let isReplacing: Bool
}

/// The results of a replacement of the index key.
package struct IndexKeyReport: Sendable, Hashable {
    /// Whether it continued an interrupted one.
    package let isResumed: Bool
    /// Rows that this call gave a new index.
    package let users: Int
    package let providers: Int
    /// Log-ins that have been begun and not completed.
    package let authorizationRequests: Int
    /// Rows that cannot be opened. The former key is kept for them; ``Vault/damage(limit:)`` names them.
    package let damaged: Int

    /// Whether the former key is gone from the vault.
    package var isComplete: Bool { damaged == 0 }
}

extension Vault {
    /// How old the index key is, and whether a replacement must still be completed.
    package func indexKeyStatus() async throws -> IndexKeyStatus {
        try await VaultError.translating {
            let status = try await store.indexKeyStatus()
            return IndexKeyStatus(
                madeAt: (status.madeAt ?? store.context.createdAt).date, isReplacing: status.isReplacing)
        }
    }

    /// Makes a new index key, gives every user, provider and pending log-in a new index, and gives up the former key;
    /// or continues a replacement that was interrupted.
    ///
    /// Anyone with the index key and a copy of the vault can find out whether a guessed user id is in it. A rotation of
    /// the root key does not change that. Nothing has to be stopped: other processes find rows by either key meanwhile,
    /// and take up the new one by themselves. It may be killed at any moment; calling this again continues it.
    ///
    /// - Parameter progress: Called now and then with how many users are done, of how many.
    /// - Returns: ``IndexKeyReport/isComplete`` says whether the former key is gone.
    /// - Throws: ``VaultError``; or, if the task is cancelled, `CancellationError`. Completed work is kept.
    @discardableResult
    package func replaceIndexKey(
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> IndexKeyReport {
        try await VaultError.translating {
            let report = try await store.replaceIndexKey(progress)
            _ = await store.removeRemnants()
            return IndexKeyReport(
                isResumed: report.isResumed, users: report.moved.users, providers: report.moved.providers,
                authorizationRequests: report.moved.authorizationRequests, damaged: report.unreadable.total)
        }
    }
}
