package import FoundationEssentials
package import TokenVault
import VaultStorage

extension Vault {
    /// Gives a user a new data key, and seals all of the user's data again under it.
    ///
    /// A root key and a vault key can be replaced without changing anything that data keys have sealed. If someone may
    /// have read a data key, because they had a copy of the vault and a key for it, replace all three: the data keys
    /// last.
    ///
    /// - Throws: ``VaultError/Code/quarantined`` if a login of the user cannot be opened; nothing is changed then.
    package func replaceDataKey(ofUser userId: String) async throws {
        let userId = try ArgumentCheck.userId(userId)
        try await VaultError.translating {
            try await store.replaceDataKey(ofUser: userId)
            _ = await store.removeRemnants()
        }
    }

    /// The same for all users, while all other work continues. Each user is replaced as a whole, with one row in the
    /// audit trail.
    ///
    /// - Parameters:
    ///   - time: Younger data keys stay. To continue an interrupted replacement, give the time at which it was begun.
    ///   - progress: Called now and then with how many users are done, of how many.
    /// - Returns: How many users have a new data key, and for how many it could not be replaced because some of their
    ///   data cannot be opened.
    @discardableResult
    package func replaceDataKeys(
        madeBefore time: Date, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> (replaced: Int, damaged: Int) {
        try await VaultError.translating {
            let result = try await store.replaceDataKeys(madeBefore: Timestamp(time), progress)
            _ = await store.removeRemnants()
            return (result.users, result.unreadable)
        }
    }
}
