extension VaultStore {
    package func replaceDataKey(ofUser id: String) async throws {
        try await write { try $0.replaceDataKey(ofUser: id) }
    }

    /// Gives a new data key to every user whose key was made before a time. All other operations continue in the
    /// meantime.
    ///
    /// - Parameter progress: Called with the number of users processed and the total.
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

    /// The number of users in one transaction.
    private static var usersAtOnce: Int { 100 }
}
