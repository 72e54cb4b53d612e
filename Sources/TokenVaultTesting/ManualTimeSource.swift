public import FoundationEssentials
import Synchronization
public import TokenVault

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let time = ManualTimeSource()
/// let vault = try await TemporaryVault(timeSource: time)
/// time.advance(by: .seconds(3_600))
/// ```
///
/// It knows when the vaults that use it are at work: see ``isAtRest`` and ``passing(step:_:)``.
public final class ManualTimeSource: TimeSource {
    private struct Sleeper {
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, any Error>
        let work: WorkToken?
    }

    private struct State {
        var elapsed = Duration.zero
        /// How far the wall clock has been set beside the time that passed.
        var jump = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var nextID = 0
        /// Those who are about to sleep, and whether they have been cancelled meanwhile.
        var arriving: [Int: Bool] = [:]
    }

    private let start: Date
    private let state = Mutex(State())
    private let tasksAtWork = Atomic<Int>(0)

    /// - Parameter start: by default a fixed date, so that every run is the same.
    public init(start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        self.start = start
    }

    public func now() -> Date {
        let passed = state.withLock { $0.elapsed + $0.jump }
        return start.addingTimeInterval(passed / .milliseconds(1) / 1_000)
    }

    public func uptime() -> Duration { state.withLock { $0.elapsed } }

    /// Lets time pass, and wakes the tasks that slept until then.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            let due = state.sleepers.filter { $0.value.wakesAt <= state.elapsed }
            for (id, sleeper) in due {
                state.sleepers[id] = nil
                sleeper.work?.endWait()
            }
            return due.values.sorted { $0.wakesAt < $1.wakesAt }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Sets the wall clock forward, or back if negative, as an administrator would: no task wakes.
    public func setWallClock(forwardBy duration: Duration) {
        state.withLock { $0.jump += duration }
    }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Whether the vaults that use this clock are at rest: nothing more happens in them before time passes, a test does
    /// something, or a gate opens. Requests, writes and questions to handlers are work until they have ended, except
    /// while they wait for this clock or at a ``Gate``.
    public var isAtRest: Bool { tasksAtWork.load(ordering: .sequentiallyConsistent) == 0 }

    /// Returns once at least so many sleep: then the code under test has come to its next wait.
    public func waitForSleepers(_ count: Int = 1) async {
        while sleeperCount < count, !Task.isCancelled { await Task.yield() }
    }

    /// Returns once the vaults that use this clock are at rest.
    public func waitForRest() async {
        while !isAtRest, !Task.isCancelled { await Task.yield() }
    }

    /// Lets time pass, a step at a time, whenever a task waits for it, until the body has returned: for code that waits
    /// for moments by itself, as the vault does before it sends a token again whose reply was lost.
    ///
    /// Time stands still while a vault that uses this clock is at work, however slow the machine is, and no step goes
    /// beyond the next instant that a task waits for. A handler or a reply that is to take time waits for this clock,
    /// or at a ``Gate``; whatever else it waits for counts as work. What the body itself does beside its calls is not
    /// known to the clock.
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
        let id = state.withLock { state in
            state.nextID += 1
            state.arriving[state.nextID] = false
            return state.nextID
        }
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

    /// For tests of the clock itself: what it still keeps of sleeps that have ended.
    package var keptCancellations: Int { state.withLock { $0.arriving.count } }
}

extension ManualTimeSource: WorkClock {
    package func workBegan() { tasksAtWork.add(1, ordering: .sequentiallyConsistent) }
    package func workEnded() { tasksAtWork.subtract(1, ordering: .sequentiallyConsistent) }
}
