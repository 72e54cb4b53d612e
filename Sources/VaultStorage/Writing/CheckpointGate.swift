import CSQLite
import Glibc

/// The only place where checkpoints run.
///
/// Before 3.51.3 SQLite can lose acknowledged commits when one connection checkpoints while another one restarts the
/// WAL. So a checkpoint runs only while a sibling connection holds the write lock: then nobody, in no process, can
/// restart the WAL. A passive checkpoint needs no write lock itself. The WAL starts over by itself at the next commit
/// after a complete one, and is cut to `journal_size_limit` then.
@safe final class CheckpointGate {
    static let threshold: Int32 = 250
    /// A reader that takes longer than all of them together is not waited for.
    private static let attempts = 8
    /// Microseconds.
    private static let pause: UInt32 = 500

    private let path: String
    private let liveness: Liveness?
    private let writer: Connection
    private var sibling: Connection?
    /// Set by SQLite at each commit: how many pages the WAL has.
    private let pages: UnsafeMutablePointer<Int32>
    /// Where to try again when readers kept a checkpoint from finishing.
    private var next = threshold
    private static let retryStep: Int32 = 50

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
    func checkpointIfDue() {
        let count = unsafe pages.pointee
        if count < next {
            if count < Self.threshold { next = Self.threshold }
            return
        }
        next = checkpoint() ? Self.threshold : count + Self.retryStep
    }

    /// Whether everything in the WAL is now in the database file.
    @discardableResult
    func checkpoint() -> Bool {
        do throws(StoreError) {
            let sibling = if let sibling { sibling } else { try connect() }
            self.sibling = sibling
            try sibling.execute("BEGIN IMMEDIATE")
            defer { try? sibling.execute("ROLLBACK") }
            // Reads that began before the last commit hold the checkpoint up; where somebody always reads, there is
            // always one. Nobody can commit now, so these end and no others of their kind begin.
            for _ in 0..<Self.attempts {
                if isComplete() { return true }
                usleep(Self.pause)
            }
            return false
        } catch {
            return false
        }
    }

    private func isComplete() -> Bool {
        var logged: Int32 = 0
        var done: Int32 = 0
        let code = unsafe sqlite3_wal_checkpoint_v2(
            writer.handle, "main", SQLITE_CHECKPOINT_PASSIVE, &logged, &done)
        return code == SQLITE_OK && logged == done
    }

    private func connect() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, liveness: liveness)
        try connection.configure()
        // Others may write for a while; the next commit is as good an occasion.
        unsafe sqlite3_busy_timeout(connection.handle, 500)
        return connection
    }
}
