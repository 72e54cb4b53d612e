public import FoundationEssentials
import Synchronization
public import TokenVault

/// A clock that advances only when a test moves it.
///
/// ```swift
/// let time = ManualTimeSource()
/// let vault = try await TemporaryVault(timeSource: time)
/// time.advance(by: .seconds(3_600))
/// ```
///
/// It knows when the vaults that use it are working: see ``isAtRest`` and ``passing(step:_:)``.
///
/// A call that itself waits, such as one whose reply was lost, never returns if the test does not advance the clock. After
/// five real seconds of that, the clock says so on standard error, once.
public final class ManualTimeSource: TimeSource {
    private struct Sleeper {
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, any Error>
        let work: WorkToken?
    }

    private struct State {
        var elapsed = Duration.zero
        /// How far the wall clock was set, in addition to the time that passed.
        var jump = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var nextID = 0
        /// How often time was advanced.
        var advances = 0
        /// Whether ``Watch`` looks at the sleeping tasks; false again when none is left, and true for good once it spoke.
        var isWatched = false
        /// The tasks that are about to sleep, and whether they have been cancelled meanwhile.
        var arriving: [Int: Bool] = [:]
    }

    private let start: Date
    private let state = Mutex(State())
    private let tasksAtWork = Atomic<Int>(0)
    private let watch: Watch

    /// - Parameter start: By default a fixed date, so that every run is the same.
    public convenience init(start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        self.init(start: start, watch: .real)
    }

    package init(start: Date = Date(timeIntervalSince1970: 1_800_000_000), watch: Watch) {
        self.start = start
        self.watch = watch
    }

    public func now() -> Date {
        let passed = state.withLock { $0.elapsed + $0.jump }
        return start.addingTimeInterval(passed / .milliseconds(1) / 1_000)
    }

    public func uptime() -> Duration { state.withLock { $0.elapsed } }

    /// Advances time, and wakes the tasks that slept until then.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            state.advances += 1
            let due = state.sleepers.filter { $0.value.wakesAt <= state.elapsed }
            for (id, sleeper) in due {
                state.sleepers[id] = nil
                sleeper.work?.endWait()
            }
            return due.values.sorted { $0.wakesAt < $1.wakesAt }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Sets the wall clock forward, or back if negative, as an administrator would. No task wakes.
    public func setWallClock(forwardBy duration: Duration) {
        state.withLock { $0.jump += duration }
    }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Whether the vaults that use this clock are at rest: nothing more happens in them before time passes, a test does
    /// something, or a gate opens. Requests, writes and calls of handlers count as work until they end, except while
    /// they wait for this clock or at a ``Gate``.
    public var isAtRest: Bool { tasksAtWork.load(ordering: .sequentiallyConsistent) == 0 }

    /// Returns once at least this many tasks sleep: then the code under test has reached its next wait.
    public func waitForSleepers(_ count: Int = 1) async {
        while sleeperCount < count, !Task.isCancelled { await Task.yield() }
    }

    /// Returns once the vaults that use this clock are at rest.
    public func waitForRest() async {
        while !isAtRest, !Task.isCancelled { await Task.yield() }
    }

    /// Advances time in steps, whenever a task waits for it, until the body has returned: for code that itself waits,
    /// as the vault does before it resends a token whose reply was lost.
    ///
    /// Time does not advance while a vault that uses this clock is working, however slow the machine is, and no step
    /// passes the next instant that a task waits for. A handler or a reply that is meant to take time waits for this
    /// clock, or at a ``Gate``; any other wait counts as work. The clock does not know about work that the body itself
    /// does in addition to its calls.
    public func passing<R: Sendable>(
        step: Duration = .milliseconds(100), _ body: @Sendable () async throws -> R
    ) async rethrows -> R {
        let pump = Task {
            while !Task.isCancelled {
                await waitForSleepers()
                if isAtRest { advanceToNext(atMost: step) }
                await Task.yield()
            }
        }
        defer { pump.cancel() }
        return try await body()
    }

    private func advanceToNext(atMost step: Duration) {
        let wait = state.withLock { state in
            state.sleepers.values.map(\.wakesAt).min().map { min(step, max(.zero, $0 - state.elapsed)) }
        }
        if let wait { advance(by: wait) }
    }

    public func sleep(for duration: Duration) async throws {
        let work = WorkToken.current
        let (id, isWatched) = state.withLock { state in
            state.nextID += 1
            state.arriving[state.nextID] = false
            defer { state.isWatched = true }
            return (state.nextID, state.isWatched)
        }
        if !isWatched { startWatch() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.arriving.removeValue(forKey: id) == true { return .failure(CancellationError()) }
                    if duration <= .zero { return .success(()) }
                    work?.beginWait()
                    state.sleepers[id] = Sleeper(
                        wakesAt: state.elapsed + duration, continuation: continuation, work: work)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    if state.arriving[id] != nil { state.arriving[id] = true }
                    return nil as Sleeper?
                }
                sleeper.work?.endWait()
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Speaks if time stands still while a task waits for it. It does not keep the clock alive.
    private func startWatch() {
        let watch = watch
        Task.detached { [weak self] in
            while let seen = self?.state.withLock({ (advances: $0.advances, lastSleeper: $0.nextID) }) {
                await watch.wait()
                guard let self else { return }
                let isOver = state.withLock { state in
                    if state.sleepers.isEmpty, state.arriving.isEmpty { state.isWatched = false }
                    return !state.isWatched
                }
                if isOver { return }
                guard isStuck(since: seen.advances, with: seen.lastSleeper) else { continue }
                return watch.say(Self.advice)
            }
        }
    }

    /// Whether a task that slept then still sleeps, no task works, and time was not advanced meanwhile.
    private func isStuck(since advances: Int, with lastSleeper: Int) -> Bool {
        isAtRest
            && state.withLock { state in
                state.advances == advances && state.sleepers.keys.contains { $0 <= lastSleeper }
            }
    }

    private static let advice = """
        ManualTimeSource: a task has waited for this clock for five real seconds, and the test does not advance it. Advance \
        it with `advance(by:)`, or make the call that waits inside `time.passing { … }`, which does.
        """

    /// For tests of the clock itself: the records that it still keeps of finished sleeps.
    package var keptCancellations: Int { state.withLock { $0.arriving.count } }
}

extension ManualTimeSource: WorkClock {
    package func workBegan() { tasksAtWork.add(1, ordering: .sequentiallyConsistent) }
    package func workEnded() { tasksAtWork.subtract(1, ordering: .sequentiallyConsistent) }
}
