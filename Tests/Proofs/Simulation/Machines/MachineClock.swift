import FoundationEssentials
import TokenVault

/// The clocks of one process: time passes for all alike, and each machine has a wall clock that may be set.
struct MachineClock: TimeSource {
    let time: SimulatedTime
    let room: MachineRoom
    let owner: Int64

    func now() -> Date {
        time.now().addingTimeInterval(Double(room.ahead(of: owner)) / 1_000)
    }

    func uptime() -> Duration { .milliseconds(time.milliseconds) }

    func sleep(for duration: Duration) async throws { try await time.sleep(for: duration) }
}
