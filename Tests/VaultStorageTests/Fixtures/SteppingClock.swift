import Synchronization
import VaultStorage

/// A clock that only a test moves.
final class SteppingClock: Sendable {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let time = Mutex(SteppingClock.start)

    var now: Timestamp { time.withLock { $0 } }

    func advance(_ duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }
}
