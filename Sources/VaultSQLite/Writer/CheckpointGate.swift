import CSQLite
import Platform
import VaultStorage

/// The only place where checkpoints run.
///
/// Before 3.51.3 SQLite can lose acknowledged commits when one connection checkpoints while another one restarts the
/// WAL. So a sibling connection checkpoints, and only while the writer holds the write lock: then no connection, in any
/// process, can restart the WAL. A passive checkpoint itself needs no write lock. After a complete one, the writer lets
/// the WAL restart with a new mark if no process reads from it; see ``WALMark``. Otherwise SQLite restarts the WAL at a
/// later commit. The writer makes that commit itself, because after another connection's commit it would read all its
/// pages again.
@safe final class CheckpointGate {
    enum Outcome: Equatable {
        case failed(StoreError)
        /// Part of the WAL is not in the database file yet, because of a reader or a writer.
        case incomplete
        /// All of the WAL is in the database file.
        case complete
        /// All of it is, and the next commit restarts the WAL.
        case restartable
        /// All of it is, and the WAL has restarted.
        case begunAnew
        /// All of it is, but the commit that should restart the WAL has failed, so the restart may or may not have
        /// happened.
        case doubtful(StoreError)
    }

    /// The next step for a WAL that is completely in the database file.
    enum Rest {
        /// The next commit decides.
        case stays
        /// The WAL restarts, and its file keeps its size.
        case beginsAnew
        /// The WAL restarts, and its file is truncated.
        case isCutOff
    }

    private let path: String
    private let liveness: Liveness?
    private let writer: Connection
    private var sibling: Connection?
    /// Set by SQLite at each of the writer's commits: the number of pages in the WAL.
    private let pages: UnsafeMutablePointer<Int32>
    private let hasLongSnapshot: @Sendable () -> Bool
    private var schedule = CheckpointSchedule()
    /// The number of WAL pages in the database file, and the time of the last progress.
    private var progress: (pages: Int32, since: SuspendingClock.Instant) = (-1, .now)

    /// - Parameter hasLongSnapshot: whether a known snapshot lasts too long to wait for.
    init(path: String, writer: Connection, hasLongSnapshot: @escaping @Sendable () -> Bool = { false }) {
        self.path = path
        self.hasLongSnapshot = hasLongSnapshot
        liveness = writer.liveness
        self.writer = writer
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe Self.count(writer, pages)
    }

    deinit {
        unsafe Self.count(writer, nil)
        unsafe pages.deallocate()
    }

    private static func count(_ connection: Connection, _ counter: UnsafeMutablePointer<Int32>?) {
        unsafe _ = sqlite3_wal_hook(
            connection.handle,
            { counter, _, _, pages in
                unsafe counter?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, counter)
    }

    /// Checkpoints when the WAL is long enough. Never throws: a failed checkpoint is tried again later, and no data
    /// depends on it.
    /// - Parameter waited: how long the last commit waited for the write lock.
    /// - Returns: `nil` if none was due.
    func checkpointIfDue(waited: Duration, isBatch: Bool = false) -> Outcome? {
        let count = unsafe pages.pointee
        guard let timeLimit = schedule.timeLimit(at: count, waited: waited, isBatch: isBatch) else { return nil }
        let outcome = checkpoint(hasLongSnapshot() ? .zero : timeLimit, rest: .beginsAnew)
        schedule.note(outcome, at: count)
        return outcome
    }

    /// Whether ``checkpointIfDue(waited:isBatch:)`` may have something to do after the last commit.
    var isCheckpointDue: Bool { schedule.isDue(at: unsafe pages.pointee) }

    /// Runs changes of many rows inside a transaction. If the WAL is long, a thread copies it into the database file
    /// meanwhile, so that little is left to copy when the WAL restarts. The transaction holds the write lock, and
    /// writes nothing to the WAL before it commits.
    func copyingBeside<R>(_ body: () throws -> R) rethrows -> R {
        let end = writer.spillsNothing ? copyBeside() : nil
        defer { end?.wait() }
        return try body()
    }

    /// The following checkpoint reports any failure.
    private func copyBeside() -> ThreadSignal? {
        guard unsafe pages.pointee >= CheckpointSchedule.copiedBesideBatches, let sibling = try? connectedSibling()
        else { return nil }
        let end = ThreadSignal()
        let isStarted = OwnThread.start {
            unsafe _ = sqlite3_wal_checkpoint_v2(sibling.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            end.send()
        }
        return isStarted ? end : nil
    }

    /// - Parameter isDoubtful: whether the WAL may hold frames that only look synced. Then it is written again first:
    ///   while the database file is half changed, recovery from a power failure must find the other half in the WAL.
    @discardableResult
    func checkpoint(
        _ timeLimit: Duration = CheckpointSchedule.leastTimeLimit, ofDoubtfulWAL isDoubtful: Bool = false,
        rest: Rest = .stays
    ) -> Outcome {
        var outcome = Outcome.incomplete
        do throws(StoreError) {
            let sibling = try connectedSibling()
            try hold()
            defer { letGo() }
            if isDoubtful {
                let code = unsafe vault_wal_write_again(writer.handle)
                guard code == SQLITE_OK else { throw writer.error(code) }
            }
            let isComplete = try completePages(sibling) != nil
            // A snapshot that has lasted this long is not waited for: it may last for hours.
            let isStuck = !isComplete && progress.since.duration(to: .now) > CheckpointSchedule.longestTimeLimit
            let timeLimit = isStuck ? min(timeLimit, CheckpointSchedule.shortTimeLimit) : timeLimit
            let end = SuspendingClock.now + timeLimit
            var known: Int32?
            // No process can commit now, so the snapshots in the way end, and no new ones of their kind begin.
            while let count = try Self.wait(until: end, for: { () throws(StoreError) in try completePages(sibling) }) {
                outcome = .complete
                // The writer's own snapshot is in the way too, unless it began on a complete WAL.
                if known == count {
                    guard try hasNoReader(sibling, within: timeLimit) else { return .complete }
                    return rest == .stays
                        ? .restartable : try beginAnew(after: count, isCut: rest == .isCutOff)
                }
                known = count
                try writer.statement("ROLLBACK").run()
                try hold()
            }
            return outcome
        } catch {
            return error.code == .busy ? outcome : .failed(error)
        }
    }

    /// Restarts a doubtful WAL, or throws.
    func startOver(rest: Rest = .stays) throws(StoreError) {
        switch checkpoint(CheckpointSchedule.shortTimeLimit, ofDoubtfulWAL: true, rest: rest) {
        case .restartable, .begunAnew: return
        case .failed(let error), .doubtful(let error): throw error
        case .incomplete, .complete:
            throw StoreError(
                .busy, "the vault is busy: a process holds a snapshot of it, and a commit has failed before",
                hint: "end the backup or program that reads the file")
        }
    }

    /// The writer has seen the WAL as it is now and as complete, and no process reads from it. So the next commit
    /// restarts it, unless a process starts to read from it at this very moment.
    private func beginAnew(after count: Int32, isCut: Bool) throws(StoreError) -> Outcome {
        // The commit that restarts the WAL truncates the rest of its file.
        if isCut { try writer.execute("PRAGMA journal_size_limit = 0") }
        defer { if isCut { try? writer.keepLogFile() } }
        guard try WALMark.replace(writer) else { return .restartable }
        do throws(StoreError) {
            try writer.statement("COMMIT").run()
        } catch {
            if writer.lastCode & 0xff == SQLITE_FULL { throw error }
            return .doubtful(error)
        }
        let written = unsafe pages.pointee
        progress = (-1, .now)
        return written > count && count > 0 ? .complete : .begunAnew
    }

    /// Others may write for a while; the next commit is as good an opportunity.
    private func hold() throws(StoreError) {
        unsafe sqlite3_busy_timeout(writer.handle, 500)
        defer { unsafe _ = sqlite3_busy_timeout(writer.handle, Connection.busyTimeout) }
        try writer.statement("BEGIN IMMEDIATE").run()
    }

    private func letGo() {
        if !writer.isOutsideTransaction { try? writer.statement("ROLLBACK").run() }
    }

    /// The number of pages in the WAL, if all of them are in the database file now.
    private func completePages(_ sibling: Connection) throws(StoreError) -> Int32? {
        var logged: Int32 = 0
        var done: Int32 = 0
        let code = unsafe sqlite3_wal_checkpoint_v2(
            sibling.handle, "main", SQLITE_CHECKPOINT_PASSIVE, &logged, &done)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw sibling.error(code) }
        if done != progress.pages { progress = (done, .now) }
        return code == SQLITE_OK && logged == done ? logged : nil
    }

    private func hasNoReader(_ sibling: Connection, within timeLimit: Duration) throws(StoreError) -> Bool {
        let answer = try Self.wait(until: SuspendingClock.now + timeLimit) { () throws(StoreError) -> Bool? in
            switch unsafe vault_wal_has_no_reader(sibling.handle) {
            case SQLITE_OK: return true
            case let code where code & 0xff == SQLITE_BUSY: return nil
            case let code: throw sibling.error(code)
            }
        }
        return answer ?? false
    }

    /// Polls at once, then again and again, less often the longer it takes.
    private static func wait<R>(
        until end: SuspendingClock.Instant, for answer: () throws(StoreError) -> R?
    ) throws(StoreError) -> R? {
        var pause: UInt32 = 500
        while true {
            if let answer = try answer() { return answer }
            if SuspendingClock.now >= end { return nil }
            CurrentThread.pause(microseconds: pause)
            pause = min(pause + pause / 8, 20_000)
        }
    }

    private func connectedSibling() throws(StoreError) -> Connection {
        if let sibling { return sibling }
        let connection = try Connection(path: path, liveness: liveness)
        try connection.configure()
        unsafe sqlite3_busy_timeout(connection.handle, 500)
        sibling = connection
        return connection
    }
}
