extension VaultStore {
    package func replaceDataKey(ofUser id: String) async throws {
        try await write { try $0.replaceDataKey(ofUser: id) }
    }

    /// Gives every user a new data key whose own was made before a time. Every other operation goes on meanwhile.
    ///
    /// - Parameter progress: Called with how many users have been looked at, of how many.
    package func replaceDataKeys(
        madeBefore time: Timestamp, _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws -> ReplacedDataKeys {
        let total = try await survey { try $0.userCount() }
        var all = ReplacedDataKeys()
        var last: Int64 = .min
        while true {
            let after = last
            let batch = try await write {
                try $0.replaceDataKeys(madeBefore: time, after: after, limit: Self.usersAtOnce)
            }
            all.users += batch.users
            all.unreadable += batch.unreadable
            all.looked += batch.looked
            guard let end = batch.last else { return all }
            last = end
            progress(min(all.looked, total), total)
            try Task.checkCancellation()
        }
    }

    /// In one transaction.
    private static var usersAtOnce: Int { 100 }
}
