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

/// SplitMix64: the same numbers at every run with the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

/// Set once, by one task for others.
final class Flag: Sendable {
    private let value = Atomic(false)

    func set() { value.store(true, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}
