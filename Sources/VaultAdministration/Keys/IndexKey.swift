package import TokenVault
package import VaultStorage

extension Vault {
    /// How old the index key is, and whether a replacement must still be completed.
    package func indexKeyStatus() async throws -> IndexKeyStatus {
        try await VaultError.translating {
            let status = try await store.indexKeyStatus()
            return IndexKeyStatus(madeAt: status.madeAt ?? store.context.createdAt, isReplacing: status.isReplacing)
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
            return report
        }
    }
}
