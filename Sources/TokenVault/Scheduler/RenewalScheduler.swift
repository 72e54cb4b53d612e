public import ServiceLifecycle
import Synchronization

/// Renews the tokens of a vault before they expire, and keeps alive refresh tokens that expire without use.
///
/// ```swift
/// let users = try await UserManager(vault: vault, transport: AsyncHTTPTransport())
/// let group = ServiceGroup(services: [RenewalScheduler(users), server], logger: logger)
/// try await group.run()
/// await vault.close()
/// ```
///
/// One task for all logins: its cost depends on due logins, however many logins there are. Callers go first, each
/// provider is asked as often and as concurrently as its profile allows, and one that asks to be left alone is. Any
/// number of processes may run one for the same vault: they share the work, and no login is renewed twice.
///
/// A graceful shutdown, like a cancelled task, lets the renewals in progress finish and begins no others. Revocations
/// that are due wait for another time.
///
/// Without a scheduler nothing is lost: a token is renewed by the call that needs it. With one, no call waits, and
/// logins stay alive that no caller asks for. `docs/scheduler.md`
public final class RenewalScheduler: Service {
    private let users: UserManager
    private let options: SchedulerOptions
    private let current = Mutex<SchedulerReport>(.init())
    private let running = Mutex<SchedulerRun?>(nil)

    public init(_ users: UserManager, options: SchedulerOptions = .init()) {
        self.users = users
        self.options = options
    }

    /// The scheduler's work so far.
    package var report: SchedulerReport { current.withLock { $0 } }

    /// For tests: whether its work has begun, or is over.
    var hasBegun: Bool { running.withLock { $0 != nil } }

    /// For tests: whether it begins nothing more.
    var isEnding: Bool { running.withLock { $0?.isStopping ?? false } }

    /// Works until the service group shuts down, the task is cancelled or the vault is closed.
    public func run() async throws {
        try await work(isOnce: false)
    }

    /// Handles all due work, and returns: for a job that is started now and then. Logins that have to wait, for
    /// instance because their provider does not answer, are left for another time.
    @discardableResult
    package func runOnce() async throws -> SchedulerReport {
        try await work(isOnce: true)
        return report
    }

    private func work(isOnce: Bool) async throws {
        try users.vault.requireOpen()
        let run = SchedulerRun(users, options, isOnce: isOnce) { [weak self] change in
            // Weakly: the run is remembered here.
            self?.current.withLock { change(&$0) }
        }
        // A task of its own: a renewal in progress is waited for, even if this task is cancelled.
        let task = users.vault.spawn { await run.run() }
        running.withLock { $0 = run }
        await withTaskCancellationOrGracefulShutdownHandler {
            await task.value
        } onCancelOrGracefulShutdown: {
            run.stop()
        }
    }
}
