/// Takes down what an engine finds wrong with what its tables lie in.
package protocol StorageFindings: AnyObject {
    /// - Parameters:
    ///   - place: A table, or `file`.
    ///   - row: Which row, where it is one.
    func note(_ place: String, row: String?, _ reason: String)
}

extension StorageFindings {
    /// What `body` gives. What says that the file or a row is damaged becomes a finding; everything else is thrown on.
    @discardableResult
    package func damageAsFinding<R>(
        _ table: String, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        do throws(StoreError) { return try body() } catch {
            guard error.isDamage else { throw error }
            note("file", row: nil, "the table \(table) cannot be read: \(error.reason)")
            return nil
        }
    }
}
