package import VaultMigrations

/// The rows of a vault's tables, in one snapshot or one transaction. Used by one thread at a time.
package protocol TableAccess: AnyObject {
    /// The same cursor each time: it must be reset before the same query is asked again.
    func cursor(_ query: Query) throws(StoreError) -> any RowCursor

    /// The number of the row that was inserted last.
    var lastInsertedRow: Int64 { get }
    /// How many rows the last query changed.
    var changeCount: Int { get }
    /// Waits until all changes are accepted: an engine may refuse one only now, after its step.
    func settle() throws(StoreError)
    /// The highest fence that an intent has ever had, also one that is gone. What the engine keeps of it stands in the clear:
    /// it may be anything, and is -1 where it is no number at all. An intent whose fence is none that a vault reaches
    /// does not count.
    func highestFence() throws(StoreError) -> Int64
    /// Puts another number in the place of what the engine keeps of it.
    func setHighestFence(_ fence: Int64) throws(StoreError)

    /// Rows with all their columns, whatever these hold.
    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow]

    /// The steps by which tables of this engine are made.
    var migrations: [Migration] { get }

    /// Refuses tables that are not laid out as this program knows them, such as those of a newer version.
    func checkSchema() throws(StoreError)

    /// Notes what is wrong with what the tables lie in.
    func checkStorage(_ findings: any StorageFindings) throws(StoreError)

    func facts() throws(StoreError) -> EngineReport

    /// A number that is another one once anything has changed in the vault; nil where the engine knows none. To be asked in a
    /// transaction, or right after its commit.
    var changeMark: Int64? { get }

    /// Says that this transaction changes many rows: an engine may keep more of them in memory while such transactions go
    /// on.
    func expectManyChanges() throws(StoreError)

    /// Whether the process of that name lives. One of which that is not known counts as alive: its intents must never
    /// be freed.
    func isOwnerAlive(_ owner: Int64) -> Bool

    /// Lets all that `body` asks see one state of the vault. To be kept short: it may hold up others.
    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R

    /// Lets `body` ask what takes long and cannot be cut into short pieces, such as how many rows a big table has. Those
    /// who would wait for the end of a reading do not wait for this one.
    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R
}

extension TableAccess {
    /// The one integer that a query gives; `nil` if it is NULL.
    func integer(_ query: Query) throws(StoreError) -> Int64? {
        let row = try cursor(query)
        defer { row.reset() }
        guard try row.step() else { throw StoreError(.damaged, "the vault did not answer a question") }
        return row.optionalInteger(0)
    }

    /// Whether there is an answer to a query.
    func has(_ query: Query) throws(StoreError) -> Bool {
        let row = try cursor(query)
        defer { row.reset() }
        return try row.step()
    }

    /// Whether there is an answer to a query that names one row or one number.
    func has(_ query: Query, _ number: Int64) throws(StoreError) -> Bool {
        let row = try cursor(query)
        defer { row.reset() }
        row.bind(1, number)
        return try row.step()
    }
}
