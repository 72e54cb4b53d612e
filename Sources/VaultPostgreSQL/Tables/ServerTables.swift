import VaultCrypto
import VaultMigrations
import VaultStorage

/// The vault's tables over one connection. Changes are sent without waiting for their results: the next query, or the
/// end of the operation, reports them.
final class ServerTables: TableAccess {
    enum Transaction { case none, reading, writing }

    let connection: ServerConnection
    let address: ServerAddress
    private let peers: PeerLiveness
    private var cursors: [Query: ServerCursor] = [:]
    private var prefetched = PrefetchedResults()
    /// Sent together with the request for the lock: the schema's version, and the highest fence.
    private var askedAtBegin: (version: Command, fence: Command)?
    private var transaction = Transaction.none
    private var lastChange: Command?
    private var lastInsert: Command?
    private var lastPortal = 0
    private(set) var changeMark: Int64?
    /// The change number of the open or the last transaction.
    private(set) var changeNumber: Int64 = 0
    /// The changes of the open or the last transaction, in a form that can be repeated.
    private var record: [RecordedChange] = []
    private var recordAtSavepoint = 0
    private var waits = true
    private var wasRefused = false
    private var isAnnounced = false
    /// Whether the end of an operation waits until its changes are accepted. If not, the commit reports failures.
    var waitsForChanges = true

    init(_ connection: ServerConnection, _ address: ServerAddress, _ peers: PeerLiveness) {
        self.connection = connection
        self.address = address
        self.peers = peers
    }

    func cursor(_ query: Query) throws(StoreError) -> any RowCursor { serverCursor(query) }

    private func serverCursor(_ query: Query) -> ServerCursor {
        if let known = cursors[query] { return known }
        let cursor = ServerCursor(query, self)
        cursors[query] = cursor
        return cursor
    }

    // MARK: Queries and changes

    func ask(_ statement: Statement, _ parameters: Parameters = .init()) throws(StoreError) -> ResultSet {
        try requireWaiting()
        let command = try connection.send(statement, parameters)
        try connection.sync()
        return try connection.answer(to: command)
    }

    func change(_ query: Query, _ statement: Statement, _ parameters: Parameters) throws(StoreError) {
        guard transaction == .writing else { throw StoreError(.readOnly, "a reader cannot change the vault") }
        let command = try connection.send(statement, parameters)
        lastChange = command
        record.append(RecordedChange(statement: statement, parameters: parameters))
        prefetched.note(query.operation, parameters)
        if case .insert(let table, _, _) = query.operation {
            lastInsert = command
            if table == .refreshIntent { askedAtBegin = nil }
        }
    }

    /// Whether a change would affect any row.
    func concernsRows(_ query: Query, _ parameters: Parameters) throws(StoreError) -> Bool {
        guard case .update(let table, _, _, let conditions) = query.operation else { return true }
        let question = Query.select([.count], from: table, where: conditions).statement
        return try ask(Statement(question.sql, question.types, isKept: false), parameters).integer(0, 0) > 0
    }

    /// Opens a result that is fetched in portions, and returns the first.
    func open(
        _ statement: Statement, _ parameters: Parameters, _ portion: Int
    ) throws(StoreError) -> (Portal, ResultSet?) {
        try requireWaiting()
        let isAlone = transaction == .none
        if isAlone { try begin(.reading) }
        lastPortal += 1
        let portal = Portal(self, "p\(lastPortal)", portion, isAlone: isAlone)
        do throws(StoreError) {
            try portal.declare(statement, parameters)
            return (portal, try portal.next())
        } catch {
            portal.close()
            throw error
        }
    }

    func close(_ portal: String, endingTransaction: Bool) {
        if endingTransaction { return rollBack() }
        _ = try? connection.send(Statement("CLOSE \(portal)", isKept: false))
    }

    /// 0 if none was inserted.
    var lastInsertedRow: Int64 {
        guard let lastInsert, let answer = try? connection.answer(to: lastInsert) else { return 0 }
        return answer.integer(0, 0)
    }

    var changeCount: Int {
        guard let lastChange, let answer = try? connection.answer(to: lastChange) else { return 0 }
        return answer.changeCount
    }

    var migrations: [Migration] { Migrations.postgreSQL }

    func settle() throws(StoreError) {
        if waitsForChanges { try connection.sync() }
    }

    func highestFence() throws(StoreError) -> Int64 {
        if let known = askedAtBegin?.fence.answer { return known.integer(0, 0) }
        return try ask(Self.highestFence).integer(0, 0)
    }

    func setHighestFence(_ fence: Int64) throws(StoreError) {
        askedAtBegin = nil
        let parameters = Parameters([.integer(fence)])
        _ = try ask(Self.setHighestFence, parameters)
        record.append(RecordedChange(statement: Self.setHighestFence, parameters: parameters))
    }

    func rawRows(of table: Table, where column: String, is number: Int64) throws(StoreError) -> [RawRow] {
        let names = [table.key] + table.fields.map(\.name)
        let query = Query.select(
            names.map { .column(table[$0]) }, from: table, where: [.equal(table[column], 1)],
            order: [.up(table[table.key])])
        let answer = try ask(
            Statement(query.statement.sql, [.integer], isKept: false), Parameters([.integer(number)]))
        return (0..<answer.rowCount).map { row in
            RawRow(
                table: table.rawValue,
                columns: zip(names, Int32(0)...).map { name, column in
                    RawRow.Column(name: name, value: answer.value(row, column, table.type(of: name)))
                })
        }
    }

    // MARK: Transactions

    /// Begins a transaction that may change something. Waits for those of other processes; from here on no other
    /// process can change anything.
    ///
    /// - Parameters:
    ///   - questions: the queries to come. The server answers them once it has granted the lock, in the same round
    ///     trip.
    ///   - expectsOthers: whether others have probably written since the last time, so that more must be checked.
    ///   - announces: whether other processes wait for this one after a failover, from here on.
    func beginWriting(
        _ questions: [BoundQuery] = [], expectsOthers: Bool = false, announces: Bool = true
    ) throws(StoreError) {
        if announces { try announce() }
        try begin(.writing)
        let locked = try connection.send(Self.lockAndCount)
        if expectsOthers {
            askedAtBegin = (try SchemaVersion.ask(connection), try connection.send(Self.highestFence))
        }
        for question in questions { try prefetch(question) }
        try connection.sync()
        let mark = try connection.answer(to: locked)
        guard mark.rowCount == 1 else { throw .lacksEngineState }
        let history = ServerTimeline(system: mark.integer(0, 1), timeline: mark.integer(0, 2))
        guard history == connection.history, mark.integer(0, 3) != 0 else { throw .unsettled }
        noteChangeNumber(mark.integer(0, 0))
    }

    /// Announces this process before its first change: after a failover, no process waits for one that only reads. The
    /// server's log keeps the order, so there is no wait for the disk.
    private func announce() throws(StoreError) {
        guard !isAnnounced, peers.own != nil else { return }
        try connection.send(Self.begin)
        try connection.send(Self.asynchronously)
        try announceHere()
        try connection.send(Self.commit)
        isAnnounced = true
    }

    /// The same within a transaction that changes something.
    func announceHere() throws(StoreError) {
        guard let owner = peers.own else { return }
        try connection.send(Self.announcement, Parameters([.integer(owner)]))
    }

    /// Sends a query without waiting. Long results are left to those who need them.
    private func prefetch(_ question: BoundQuery) throws(StoreError) {
        let (query, parameters) = (question.query, Parameters(question.parameters.map(\.value)))
        guard !query.isUnbounded, !prefetched.knows(query, parameters) else { return }
        let command = try connection.send(serverCursor(query).statement, parameters)
        prefetched.add(query, parameters, command)
    }

    /// The server's prefetched result of a query, if it still holds.
    func prefetchedResult(to query: Query, _ reach: QueryReach, _ parameters: Parameters) -> ResultSet? {
        // Outside a transaction, a repeated query must see the current state.
        prefetched.answer(to: query, reach, parameters, isLast: transaction == .none)
    }

    func dropPrefetched() { prefetched.forget() }

    // MARK: On a thread that must not wait

    /// Sends the queries, and returns whether the results came at once.
    func askBriefly(_ questions: [BoundQuery]) -> Bool {
        do throws(StoreError) {
            for question in questions { try prefetch(question) }
            connection.finishSoon()
            return try connection.settleAtOnce()
        } catch {
            return false
        }
    }

    /// From here on a query that needs a round trip is refused.
    func beginAtOnce() { (waits, wasRefused) = (false, false) }

    /// Returns whether nothing was refused: if anything was, the result means nothing.
    func endAtOnce() -> Bool {
        waits = true
        return !wasRefused
    }

    private func requireWaiting() throws(StoreError) {
        if waits { return }
        wasRefused = true
        throw StoreError(.busy, "this thread must not wait for the database server")
    }

    func noteChangeNumber(_ number: Int64) {
        changeNumber = number
        changeMark = number - 1
    }

    var recordedCount: Int { record.count }

    /// The changes of the transaction, once it is over.
    func takeRecord() -> [RecordedChange] {
        defer { record = [] }
        return record
    }

    /// A transaction that creates the tables themselves.
    func make(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try begin(.writing)
        do throws(StoreError) {
            try body()
        } catch {
            rollBack()
            throw error
        }
        switch commit() {
        case .durable: return
        case .undone(let error), .unknown(let error):
            rollBack()
            throw error
        }
    }

    func begin(_ kind: Transaction) throws(StoreError) {
        try connection.send(kind == .writing ? Self.begin : Self.beginReading)
        connection.forgetFailure()
        transaction = kind
        (lastChange, lastInsert, askedAtBegin) = (nil, nil, nil)
        prefetched.forget()
        record = []
    }

    /// Sets the point to which a failed operation is undone, without the earlier ones.
    func setSavepoint() throws(StoreError) {
        recordAtSavepoint = record.count
        try connection.send(Self.savepoint)
    }

    func rollBackToSavepoint() throws(StoreError) {
        try? connection.sync()
        record.removeLast(max(0, record.count - recordAtSavepoint))
        try connection.send(Self.rollBackTo)
        try connection.sync()
        connection.forgetFailure()
    }

    /// The outcome of a commit.
    enum Outcome {
        case durable
        /// The server has rolled back everything.
        case undone(StoreError)
        /// It is unknown whether it is in the vault and will stay there.
        case unknown(StoreError)
    }

    func commit() -> Outcome {
        _ = connection.takeWarning()
        let command: Command
        do throws(StoreError) { command = try connection.send(Self.commit) } catch { return .undone(error) }
        do throws(StoreError) {
            try connection.sync()
            transaction = .none
            let answer = try connection.answer(to: command)
            guard answer.tag == "COMMIT" else {
                return .undone(StoreError(.io(0), "the database server has rolled back the change"))
            }
            // Committed there, and perhaps on no standby.
            if connection.takeWarning() { return .unknown(.unreachable) }
            changeMark = changeMark.map { $0 + 1 }
            return .durable
        } catch {
            // An earlier command has failed, so the server has not run this one.
            if case .skipped = command.state { return .undone(error) }
            transaction = .none
            return .unknown(error)
        }
    }

    /// Rolls back the open transaction, if there is one.
    func rollBack() {
        guard transaction != .none else { return }
        let isWriting = transaction == .writing
        transaction = .none
        do throws(StoreError) {
            // Earlier failures are undone with the rest.
            if isWriting { try? connection.sync() }
            try connection.send(Self.rollBack)
            if isWriting { try connection.sync() } else { connection.finishSoon() }
            connection.forgetFailure()
        } catch {
            // The connection is lost, and the transaction with it.
        }
    }

    func snapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        if transaction != .none { return try body() }
        try requireWaiting()
        try begin(.reading)
        defer { rollBack() }
        return try body()
    }

    func longReading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R { try body() }

    /// The server manages its own cache.
    func expectManyChanges() {}

    // MARK: Others

    func isOwnerAlive(_ owner: Int64) -> Bool { peers.isAlive(owner, self) }

    func checkSchema() throws(StoreError) {
        try requireWaiting()
        guard let known = askedAtBegin?.version.answer else { return try SchemaVersion.check(connection) }
        try SchemaVersion.check(known)
    }

    func checkStorage(_ findings: any StorageFindings) throws(StoreError) {
        try requireWaiting()
        try ServerSchema(address.schema).noteInvalidIndexes(connection, findings)
    }

    func facts() throws(StoreError) -> EngineReport {
        let answer = try ask(Self.facts, Parameters([.text(address.schema)]))
        let standby: EngineReport.Standby =
            answer.integer(0, 2) != 0 ? .synchronous : answer.integer(0, 3) != 0 ? .asynchronous : .none
        return EngineReport(
            kind: .postgreSQL, schemaVersion: try SchemaVersion.read(connection), byteCount: answer.integer(0, 0),
            version: answer.text(0, 1), sourceID: "", canLoseCommits: false, standby: standby)
    }

    private static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
    private static let beginReading = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private static let commit = Statement("COMMIT")
    private static let rollBack = Statement("ROLLBACK")
    /// One of this name replaces the one before.
    private static let savepoint = Statement("SAVEPOINT operation")
    private static let rollBackTo = Statement("ROLLBACK TO SAVEPOINT operation")
    private static let lockAndCount = Statement(
        """
        UPDATE "engineState" SET "changeCount" = "changeCount" + 1,
            "isSynchronous" = current_setting('synchronous_standby_names') <> ''
        WHERE "id" = 1 RETURNING "changeCount", "system", "timeline", \(isHere)
        """)
    private static let asynchronously = Statement("SET LOCAL synchronous_commit = off")
    private static let announcement = Statement(
        #"UPDATE "process" SET "hasChanged" = true WHERE "owner" = $1 AND NOT "hasChanged""#, [.integer])
    private static let highestFence = Statement(
        """
        SELECT CASE WHEN "kept" < 0 THEN -1 ELSE GREATEST("kept",
            COALESCE((SELECT max("fence") FROM "refreshIntent" WHERE "fence" < 4611686018427387904), 0)) END
        FROM (SELECT COALESCE((SELECT max("highestFence") FROM "engineState"), 0) AS "kept") AS "counter"
        """)
    private static let setHighestFence = Statement(
        #"UPDATE "engineState" SET "highestFence" = $1 WHERE "id" = 1 RETURNING "highestFence""#, [.integer])
    private static let facts = Statement(
        """
        SELECT COALESCE(sum(pg_total_relation_size(oid)), 0)::int8, current_setting('server_version'),
            (current_setting('synchronous_standby_names') <> '')::int::int8,
            (SELECT count(*) FROM pg_stat_replication)
        FROM pg_class WHERE oid = ANY (\(ServerSchema.members("pg_class"))) AND relkind = 'r'
        """, [.text])
}

extension BoundQuery.Parameter {
    var value: Parameters.Value {
        switch self {
        case .number(let number): .integer(number)
        case .bytes(let bytes): .bytes(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
        }
    }
}

extension ResultSet {
    fileprivate func value(_ row: Int32, _ column: Int32, _ type: Table.FieldType) -> RawRow.Value {
        if isNull(row, column) { return .null }
        return switch type {
        case .integer: .integer(integer(row, column))
        case .text: .text(unsafe [UInt8](bytes(row, column)))
        case .bytes: .blob(unsafe [UInt8](bytes(row, column)))
        }
    }
}
