import FoundationEssentials
import TokenVault

/// The clock of all simulated processes. Who sleeps is woken when the simulation comes to that time.
final class SimulatedTime: TimeSource, @unchecked Sendable {
    static let start: Int64 = 1_800_000_000_000

    private final class Sleeper: @unchecked Sendable {
        var continuation: CheckedContinuation<Void, any Error>?
        var event: Int?
        var isCancelled = false
    }

    private let events: EventQueue

    init(_ events: EventQueue) { self.events = events }

    var milliseconds: Int64 { Self.start + events.now }

    func now() -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    func sleep(for duration: Duration) async throws {
        let sleeper = Sleeper()
        // Rounded up: a part of a millisecond would be no time at all, and who waits for it would wait for ever.
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if sleeper.isCancelled { return continuation.resume(throwing: CancellationError()) }
                sleeper.continuation = continuation
                sleeper.event = events.add(after: milliseconds, of: JobQueue.shared.current) {
                    sleeper.continuation?.resume()
                    sleeper.continuation = nil
                }
            }
        } onCancel: {
            sleeper.isCancelled = true
            if let event = sleeper.event { _ = events.cancel(event) }
            sleeper.continuation?.resume(throwing: CancellationError())
            sleeper.continuation = nil
        }
    }
}
