package import VaultMigrations

/// The rows of a vault's tables, in one snapshot or one transaction. One thread uses it at a time.
package protocol TableAccess: AnyObject {
    /// Returns the same cursor each time: reset it before running the same query again.
    func cursor(_ query: Query) throws(StoreError) -> any RowCursor

    /// The number of the row that was inserted last.
    var lastInsertedRow: Int64 { get }
    /// The number of rows that the last query changed.
    var changeCount: Int { get }
    /// Waits until all changes are accepted: an engine may report a refusal only now, after the step.
    func settle() throws(StoreError)
    /// The highest fence that an intent has ever had, even if the intent no longer exists. The engine stores it in
    /// plaintext, so it may be any number; it is -1 if it is not a number at all. An intent with a fence that no vault
    /// reaches does not count.
    func highestFence() throws(StoreError) -> Int64
    /// Replaces the engine's record of the highest fence.
    func setHighestFence(_ fence: Int64) throws(StoreError)

    /// Rows with all their columns, whatever values these hold.
    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow]

    /// The migrations that create this engine's tables.
    var migrations: [Migration] { get }

    /// Refuses tables whose layout this program does not know, such as those of a newer version.
    func checkSchema() throws(StoreError)

    /// Notes problems in the storage of the tables.
    func checkStorage(_ findings: any StorageFindings) throws(StoreError)

    func facts() throws(StoreError) -> EngineReport

    /// A number that differs after any change in the vault; nil if the engine has none. Read it in a transaction, or
    /// right after its commit.
    var changeMark: Int64? { get }

    /// A number that differs after any change in the vault but those of users and their logins; nil if that takes a question
    /// to the database, or where one state of the vault is shown. Read it before what it is to vouch for.
    func markOfSettings() throws(StoreError) -> Int64?

    /// Announces that this transaction changes many rows: an engine may keep more of them in memory during a series of
    /// such transactions.
    func expectManyChanges() throws(StoreError)

    /// Whether the process with that number is alive. If that is unknown, it counts as alive: its intents must never be
    /// freed.
    func isOwnerAlive(_ owner: Int64) -> Bool

    /// Runs `body` so that all its queries see one state of the vault. Keep it short: it may delay other processes.
    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R

    /// Runs queries in `body` that take long and cannot be split, such as counting the rows of a big table. Processes
    /// that wait for the end of ordinary reads do not wait for this one.
    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R
}

extension TableAccess {
    package func markOfSettings() throws(StoreError) -> Int64? { nil }

    /// The single integer that a query returns; `nil` if it is NULL.
    func integer(_ query: Query) throws(StoreError) -> Int64? {
        let row = try cursor(query)
        defer { row.reset() }
        guard try row.step() else { throw StoreError(.damaged, "a query on the vault returned no row") }
        return row.optionalInteger(0)
    }

    /// Whether a query returns a row.
    func has(_ query: Query) throws(StoreError) -> Bool {
        let row = try cursor(query)
        defer { row.reset() }
        return try row.step()
    }

    /// Whether a query for one row or one number returns a row.
    func has(_ query: Query, _ number: Int64) throws(StoreError) -> Bool {
        let row = try cursor(query)
        defer { row.reset() }
        row.bind(1, number)
        return try row.step()
    }
}
