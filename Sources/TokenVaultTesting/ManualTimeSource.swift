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
public final class ManualTimeSource: TimeSource {
    private struct Sleeper {
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed = Duration.zero
        /// How far the wall clock has been set beside the time that passed.
        var jump = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var nextID = 0
        var cancelled: Set<Int> = []
    }

    private let start: Date
    private let state = Mutex(State())

    /// - Parameter start: by default a fixed date, so that every run is the same.
    public init(start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        self.start = start
    }

    public func now() -> Date {
        let passed = state.withLock { $0.elapsed + $0.jump }
        return start.addingTimeInterval(passed / .milliseconds(1) / 1_000)
    }

    public func uptime() -> Duration { state.withLock { $0.elapsed } }

    /// Lets time pass, and wakes whoever slept until then.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.elapsed += duration
            let due = state.sleepers.filter { $0.value.wakesAt <= state.elapsed }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.wakesAt < $1.wakesAt }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Sets the wall clock forward, or back if negative, as an administrator would: nobody wakes.
    public func setWallClock(forwardBy duration: Duration) {
        state.withLock { $0.jump += duration }
    }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Returns once at least so many sleep: then the code under test has come to its next wait.
    public func waitForSleepers(_ count: Int = 1) async {
        while sleeperCount < count, !Task.isCancelled { await Task.yield() }
    }

    /// Lets time pass, a step at a time, whenever somebody waits for it, until the body has returned: for code that waits for
    /// moments by itself, as the vault does before it sends a token again whose reply was lost.
    public func passing<R: Sendable>(
        step: Duration = .milliseconds(100), _ body: @Sendable () async throws -> R
    ) async rethrows -> R {
        let pump = Task {
            while !Task.isCancelled {
                await waitForSleepers()
                advance(by: step)
                await Task.yield()
            }
        }
        defer { pump.cancel() }
        return try await body()
    }

    public func sleep(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if duration <= .zero { return .success(()) }
                    state.sleepers[id] = Sleeper(wakesAt: state.elapsed + duration, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil as Sleeper?
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
