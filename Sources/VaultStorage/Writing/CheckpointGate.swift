import CSQLite
import Glibc

/// The only place where checkpoints run.
///
/// Before 3.51.3 SQLite can lose acknowledged commits when one connection checkpoints while another one restarts the
/// WAL. So a checkpoint runs only while a sibling connection holds the write lock: then nobody, in no process, can
/// restart the WAL. A passive checkpoint needs no write lock itself. The WAL starts over by itself at the next commit
/// after a complete one if nobody reads from it at that moment, and is cut to `journal_size_limit` then.
@safe final class CheckpointGate {
    enum Outcome: Equatable {
        case failed(StoreError)
        /// Some of the WAL is not in the database file yet, because somebody reads or writes.
        case incomplete
        /// All of it is.
        case complete
        /// All of it is, and the next commit begins the WAL anew.
        case restartable
    }

    private let path: String
    private let liveness: Liveness?
    private let writer: Connection
    private var sibling: Connection?
    /// Set by SQLite at each commit: how many pages the WAL has.
    private let pages: UnsafeMutablePointer<Int32>
    private var schedule = CheckpointSchedule()
    /// How much of the WAL is in the database file, and since when it has not been more.
    private var progress: (pages: Int32, since: SuspendingClock.Instant) = (-1, .now)

    init(path: String, writer: Connection) {
        self.path = path
        liveness = writer.liveness
        self.writer = writer
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe _ = sqlite3_wal_hook(
            writer.handle,
            { counter, _, _, pages in
                unsafe counter?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, pages)
    }

    deinit {
        unsafe _ = sqlite3_wal_hook(writer.handle, nil, nil)
        unsafe pages.deallocate()
    }

    /// Checkpoints when enough has gathered. Never throws: a checkpoint that fails is tried again later, and nothing
    /// is lost by its absence.
    /// - Parameter waited: how long the last commit waited for the write lock.
    func checkpointIfDue(waited: Duration) {
        let count = unsafe pages.pointee
        guard let patience = schedule.patience(at: count, waited: waited) else { return }
        schedule.note(checkpoint(patience), at: count)
    }

    /// - Parameter isDoubtful: whether the WAL may hold frames that only look synced. Then it is written again first: while
    ///   the database file is half changed, a loss of power must find in the WAL what the other half is to be.
    @discardableResult
    func checkpoint(
        _ patience: Duration = CheckpointSchedule.leastPatience, ofDoubtfulWAL isDoubtful: Bool = false
    ) -> Outcome {
        var outcome = Outcome.incomplete
        do throws(StoreError) {
            let sibling = if let sibling { sibling } else { try connect() }
            self.sibling = sibling
            try hold(sibling)
            defer { try? sibling.execute("ROLLBACK") }
            if isDoubtful {
                let code = unsafe vault_wal_write_again(sibling.handle)
                guard code == SQLITE_OK else { throw sibling.error(code) }
            }
            let isComplete = try completePages() != nil
            // One snapshot that has lasted for so long is not waited for: it may last for hours.
            let isStuck = !isComplete && progress.since.duration(to: .now) > CheckpointSchedule.mostPatience
            let patience = isStuck ? min(patience, CheckpointSchedule.somePatience) : patience
            let end = SuspendingClock.now + patience
            var known: Int32?
            // Nobody can commit now, so that the snapshots that are in the way end, and no others of their kind begin.
            while let count = try Self.wait(until: end, for: completePages) {
                outcome = .complete
                // The sibling's own snapshot is in the way too, unless it began on a WAL that was complete.
                if known == count { return try hasNoReader(within: patience) ? .restartable : .complete }
                known = count
                try sibling.execute("ROLLBACK")
                try hold(sibling)
            }
            return outcome
        } catch {
            return error.code == .busy ? outcome : .failed(error)
        }
    }

    private func hold(_ sibling: Connection) throws(StoreError) { try sibling.execute("BEGIN IMMEDIATE") }

    /// How many pages the WAL has, if all of them are in the database file now.
    private func completePages() throws(StoreError) -> Int32? {
        var logged: Int32 = 0
        var done: Int32 = 0
        let code = unsafe sqlite3_wal_checkpoint_v2(
            writer.handle, "main", SQLITE_CHECKPOINT_PASSIVE, &logged, &done)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw writer.error(code) }
        if done != progress.pages { progress = (done, .now) }
        return code == SQLITE_OK && logged == done ? logged : nil
    }

    private func hasNoReader(within patience: Duration) throws(StoreError) -> Bool {
        let answer = try Self.wait(until: SuspendingClock.now + patience) { () throws(StoreError) -> Bool? in
            switch unsafe vault_wal_has_no_reader(writer.handle) {
            case SQLITE_OK: return true
            case let code where code & 0xff == SQLITE_BUSY: return nil
            case let code: throw writer.error(code)
            }
        }
        return answer ?? false
    }

    /// Asks at once, then again and again, less often the longer it takes.
    private static func wait<R>(
        until end: SuspendingClock.Instant, for answer: () throws(StoreError) -> R?
    ) throws(StoreError) -> R? {
        var pause: UInt32 = 500
        while true {
            if let answer = try answer() { return answer }
            if SuspendingClock.now >= end { return nil }
            usleep(pause)
            pause = min(pause + pause / 8, 20_000)
        }
    }

    private func connect() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, liveness: liveness)
        try connection.configure()
        // Others may write for a while; the next commit is as good an occasion.
        unsafe sqlite3_busy_timeout(connection.handle, 500)
        return connection
    }
}
