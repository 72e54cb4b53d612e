/// Collects the problems that an engine finds in the storage of its tables.
package protocol StorageFindings: AnyObject {
    /// - Parameters:
    ///   - place: A table, or `file`.
    ///   - row: The row, if the problem is in one.
    func note(_ place: String, row: String?, _ reason: String)
}

extension StorageFindings {
    /// Returns the result of `body`. An error that reports damage of the file or a row becomes a finding; any other
    /// error is rethrown.
    @discardableResult
    package func damageAsFinding<R>(
        _ table: String, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        do throws(StoreError) { return try body() } catch {
            guard error.isDamage else { throw error }
            note("file", row: nil, "the table \(table) cannot be read: \(error.message)")
            return nil
        }
    }
}
