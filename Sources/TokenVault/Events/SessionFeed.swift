import FoundationEssentials
import Logging
import Synchronization
import VaultCrypto
import VaultStorage

/// Reports to subscribers what happens to logins: here, in other processes and by `vaultctl`.
///
/// There is one path: the audit rows in their order, also for this process's own changes. So every reported event has
/// been committed, is reported once in each process, and follows the order of the vault. An event without a row,
/// because it happens by itself, comes from the stored expiry and the clock. See `docs/adr/0023` and `docs/adr/0050`.
///
/// One task reads, and runs only while there are subscribers.
final class SessionFeed: Sendable {
    struct State {
        var watched: WatchedLogins
        var subscribers = FeedSubscribers()
        /// The last audit row that was reported.
        var cursor: Int64 = 0
        /// Its link; nil until it has been read.
        var link: AuditMAC?
        /// The task that reads; an earlier one that is still ending must not report anything.
        var epoch = 0
        var signal: ChangeSignal.Token?
        var isClosed = false
        /// Log-ins in progress, as last reported.
        var logIns: [UserKey: Int] = [:]
        var window = FeedWindow()
        // Cached, so that they are not read from the vault for each row.
        var names: [UserHandle: String] = [:]
        /// How long the grants of a provider last; dropped when a row says that the provider has changed.
        var lifetimes: [ProviderHandle: GrantLifetime] = [:]
    }

    /// Notices from other tasks. Separate, so that posting never waits for a reader.
    struct Inbox {
        var notices: [SessionNotice] = []
        var logIns: [UserKey: Int] = [:]
        /// Wakes the task that reads; nil while there is no subscriber. Each task has its own: one that is ending must
        /// not take what is meant for the next.
        var wake: Wakeup?
    }

    let options: SessionEventOptions
    let store: any VaultStore
    let timeSource: any TimeSource
    let logger: Logger
    let state: Mutex<State>
    let inbox = Mutex(Inbox())

    init(store: any VaultStore, timeSource: any TimeSource, logger: Logger, options: SessionEventOptions) {
        self.store = store
        self.timeSource = timeSource
        self.logger = logger
        self.options = options
        state = Mutex(State(watched: WatchedLogins(options: options)))
    }

    var now: Timestamp { timeSource.timestamp }

    // MARK: Events without a row

    /// Reports something. Cheap without subscribers.
    func post(_ notice: SessionNotice) async {
        await store.changes.arrivals.settled()
        let wake = inbox.withLock { inbox in
            if inbox.wake != nil { inbox.notices.append(notice) }
            return inbox.wake
        }
        wake?.signal()
    }

    func logInBegins(of userId: String) async {
        await store.changes.arrivals.settled()
        countLogIn(of: userId, 1)
    }

    func logInEnds(of userId: String) { countLogIn(of: userId, -1) }

    private func countLogIn(of userId: String, _ change: Int) {
        let wake = inbox.withLock { inbox in
            let user = UserKey(userId)
            let count = inbox.logIns[user, default: 0] + change
            inbox.logIns[user] = count > 0 ? count : nil
            if inbox.wake != nil { inbox.notices.append(.logIns(user: user, count: count)) }
            return inbox.wake
        }
        wake?.signal()
    }

    /// For tests: whether there is a subscriber, and so a task that reads.
    var isReading: Bool { inbox.withLock { $0.wake != nil } }

    func isLoggingIn(_ userId: String) -> Bool { inbox.withLock { $0.logIns[UserKey(userId)] != nil } }

    // MARK: Life

    /// What came of a subscriber.
    enum Entry {
        case entered(Int)
        /// Rows have been reported since its beginning was read, which it would never hear of: it must be read again.
        case isOutdated
        case isClosed
    }

    /// Adds a subscriber; the first one starts the task.
    ///
    /// - Parameters:
    ///   - beginning: The scope's current state.
    ///   - greeting: Delivers the first events, under the lock, so that nothing comes before them.
    func add(_ subscriber: FeedSubscriber, _ beginning: FeedBeginning, greeting: () -> Void) -> Entry {
        let entry: Entry = state.withLock { state in
            guard !state.isClosed else { return .isClosed }
            if state.subscribers.isEmpty { start(&state, at: beginning.head) }
            guard state.cursor <= beginning.head else { return .isOutdated }
            switch subscriber.scope {
            case .all: state.window.watch(from: now)
            case .login(let login): state.watched.name(login)
            case .user(let id):
                if let user = subscriber.user { state.watched.name(user) }
                state.logIns[UserKey(id)] = inbox.withLock { $0.logIns[UserKey(id)] }
            }
            for login in beginning.logins { state.watched.watch(login) }
            greeting()
            return .entered(state.subscribers.add(subscriber))
        }
        // An event may be due earlier than the task now sleeps until.
        inbox.withLock { $0.wake }?.signal()
        return entry
    }

    func remove(_ number: Int) {
        state.withLock { state in
            guard let subscriber = state.subscribers.remove(number) else { return }
            subscriber.finish()
            let isAllWatched = state.window.isWatched
            switch subscriber.scope {
            case .all:
                state.window.unwatch()
                if !state.window.isWatched { state.watched.dropUnnamed() }
            case .login(let login): state.watched.unname(login, isAllWatched: isAllWatched)
            case .user: if let user = subscriber.user { state.watched.unname(user, isAllWatched: isAllWatched) }
            }
            if state.subscribers.isEmpty { stop(&state) }
        }
    }

    /// Ends the reports. Subscribers can still fetch the events that are waiting for them.
    func close() async {
        // Changes that were committed before the vault began to close are reported.
        await catchUp()
        let subscribers = state.withLock { state in
            state.isClosed = true
            defer { state.subscribers = FeedSubscribers() }
            stop(&state)
            return Array(state.subscribers.all)
        }
        for subscriber in subscribers { subscriber.finish() }
    }

    private func start(_ state: inout State, at head: Int64) {
        state.epoch += 1
        state.cursor = head
        state.link = nil
        state.watched = WatchedLogins(options: options)
        let wake = Wakeup()
        state.logIns = inbox.withLock { inbox in
            inbox.wake = wake
            inbox.notices = []
            return inbox.logIns
        }
        state.signal = store.changes.observe { _ in wake.signal() }
        let epoch = state.epoch
        let timeSource = timeSource
        let token = (timeSource as? any WorkClock).map { WorkToken($0) }
        Task.detached { [weak self] in
            await WorkToken.$current.withValue(token) {
                defer { token?.end() }
                while !wake.isStopped, let pause = await self?.step(epoch) { await wake.wait(for: pause, timeSource) }
            }
        }
    }

    private func stop(_ state: inout State) {
        if let signal = state.signal { store.changes.cancel(signal) }
        state.signal = nil
        state.epoch += 1
        state.window = FeedWindow()
        state.names = [:]
        state.lifetimes = [:]
        let wake = inbox.withLock { inbox in
            defer { inbox.wake = nil }
            inbox.notices = []
            return inbox.wake
        }
        wake?.stop()
    }
}
