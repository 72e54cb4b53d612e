import Logging
import Synchronization
import VaultStorage

/// One run of the scheduler: checks the index, starts renewals that may start, and waits for the next event.
final class SchedulerRun: Sendable {
    /// A login that must be examined.
    struct Candidate: Sendable {
        let login: LoginHandle
        let provider: ProviderHandle?
    }

    /// The result of checking the index once.
    struct Plan: Sendable {
        var start: [Candidate] = []
        var pause: Duration
        /// Due logins wait for their provider's rate limit, or were not reached yet.
        var isUnfinished = false
        /// Due logins wait until other requests to their provider have ended.
        var waitsForRoom = false
    }

    let users: UserManager
    let options: SchedulerOptions
    let isOnce: Bool
    let wakeup = Wakeup()
    /// When it checks again if nothing happens, in milliseconds since 1970; the latest there is while anything may
    /// matter.
    private let nextLook = Atomic<Int64>(.max)
    let state = Mutex(SchedulerState())
    let report: @Sendable ((inout SchedulerReport) -> Void) -> Void
    let providers = Mutex<[ProviderHandle: KnownProvider]>([:])

    var vault: Vault { users.vault }
    var engine: RenewalEngine { users.engine }
    var context: RenewalContext { users.context }

    /// How often gauges are set and the outbox is checked.
    private static let careInterval = Duration.seconds(30)

    init(
        _ users: UserManager, _ options: SchedulerOptions, isOnce: Bool,
        report: @escaping @Sendable ((inout SchedulerReport) -> Void) -> Void
    ) {
        self.users = users
        self.options = options
        self.isOnce = isOnce
        self.report = report
    }

    var isStopping: Bool { wakeup.isStopped }

    /// Begins nothing new; ``run()`` returns when the renewals in progress have ended.
    func stop() {
        wakeup.stop()
        state.withLock { $0.care }?.cancel()
    }

    func run() async {
        let wakeup = wakeup
        // A change that makes nothing due until then is seen then. Most are renewals, which postpone it.
        let observation = vault.store.changes.observe { [self] dueFrom in
            if dueFrom.milliseconds <= nextLook.load(ordering: .sequentiallyConsistent) { wakeup.signal() }
        }
        defer { vault.store.changes.cancel(observation) }
        let closing = vault.whenClosing { [weak self] in self?.stop() }
        defer { vault.forgetClosingAction(closing) }
        if isOnce {
            _ = await users.recovery.recover()
            await tellSettled()
        }
        await withDiscardingTaskGroup { group in
            while !wakeup.isStopped {
                takeCare()
                nextLook.store(.max, ordering: .sequentiallyConsistent)
                let plan = await look()
                for candidate in plan.start {
                    let token = vault.workClock.map { WorkToken($0) }
                    group.addTask {
                        await WorkToken.$current.withValue(token) {
                            defer { token?.end() }
                            await self.renew(candidate)
                            wakeup.signal()
                        }
                    }
                }
                if isOnce, plan.start.isEmpty, !plan.isUnfinished, state.withLock({ $0.inFlight.isEmpty }) { return }
                if !plan.isUnfinished, !plan.waitsForRoom {
                    nextLook.store(
                        vault.now.advanced(by: plan.pause).milliseconds, ordering: .sequentiallyConsistent)
                }
                await wakeup.wait(for: plan.pause, vault.timeSource)
            }
        }
        // Revocations that are not begun can wait; one in progress delays the closing of the vault and nothing else.
        if isOnce, let care = state.withLock({ $0.care }) { await vault.wait(for: care) }
    }

    /// Not in the group: stopping the scheduler does not wait for it.
    private func takeCare() {
        let uptime = vault.timeSource.uptime()
        state.withLock { state in
            if let last = state.caredAt, state.care != nil || uptime - last < Self.careInterval { return }
            state.caredAt = uptime
            state.care = vault.spawn {
                await self.care()
                self.state.withLock { $0.care = nil }
            }
        }
    }

    /// Periodic work besides renewals.
    private func care() async {
        if let depths = try? await vault.store.depths() {
            context.metrics.set(.openRenewals, to: Double(depths.openIntents))
            context.metrics.set(.inDoubt, to: Double(depths.inDoubt))
            context.metrics.set(.outbox, to: Double(depths.outbox))
            if let last = depths.lastBackupAt {
                context.metrics.set(.backupAge, to: max(0, vault.now.since(last) / .seconds(1)))
            }
        }
        if let spool = try? vault.store.spool.depth() { context.metrics.set(.spool, to: Double(spool.entries)) }
        await keepTrailShort()
        await lookForDrift()
        guard options.retriesRevocations, let done = try? await users.retryRevocations(.due, limit: 256) else { return }
        guard !done.results.isEmpty else { return }
        report { report in
            report.revocationsTried += done.results.count
            report.revocationsSettled += done.results.count { $0.outcome.isSettled }
        }
    }
}
