import FoundationEssentials
import Synchronization
import Testing
import VaultStorage

@testable import TokenVault

/// Two clocks are read one after the other, and the thread may be held up in between.
struct ClockWatchTests {
    /// Loses time between a reading of the wall clock and the next one of the other.
    private final class Stuttering: TimeSource {
        private let state: Mutex<(uptime: Duration, stalls: Int)>

        init(stalls: Int) { state = Mutex((.seconds(1_000), stalls)) }

        func now() -> Date {
            state.withLock { state in
                let now = Date(timeIntervalSince1970: 1_800_000_000 + state.uptime / .seconds(1))
                if state.stalls > 0 {
                    state.stalls -= 1
                    state.uptime += .seconds(10)
                }
                return now
            }
        }

        func uptime() -> Duration { state.withLock { $0.uptime } }
        func sleep(for duration: Duration) async throws {}
    }

    @Test(arguments: 0...2)
    func aThreadThatIsHeldUpDoesNotSetAClock(_ stalls: Int) throws {
        let source = Stuttering(stalls: stalls)
        let watch = ClockWatch()
        let first = try #require(ClockWatch.read(Stuttering(stalls: 0)))
        watch.look(now: first.now, uptime: first.uptime)
        let second = try #require(ClockWatch.read(source))
        #expect(watch.look(now: second.now, uptime: second.uptime) == .zero)
        #expect(watch.setBack == nil)
    }

    @Test func readingsThatNeverBelongTogetherAreNotCompared() {
        #expect(ClockWatch.read(Stuttering(stalls: 100)) == nil)
    }
}
