import OAuthClient
import TestSupport
import TokenVault
import TokenVaultTesting
import VaultStorage

extension World {
    /// Begins a process, on a machine that reaches the vault. Nil if there is none.
    ///
    /// - Parameter visits: Whether it ends after one call, as a command does.
    @discardableResult
    func startProcess(on machine: Int? = nil, visits: Bool = false) -> SimulatedProcess? {
        let number = processes.count + 1
        guard let room else { return start(number, SimulatedStore(openVault(), ledger), visits) }
        guard let machine = machine ?? (room.open.isEmpty ? nil : random.pick(room.open)) else { return nil }
        let owner = Box<Int64>(0)
        let store = openVault { [time] in time.timestamp.advanced(by: .milliseconds(room.ahead(of: owner.value))) }
        owner.value = store.owner
        let way = VaultWay(self, room, process: number, owner: store.owner)
        room.enter(store.owner, on: machine)
        return start(number, SimulatedStore(store, ledger, way), visits)
    }

    private func start(_ number: Int, _ store: SimulatedStore, _ visits: Bool) -> SimulatedProcess {
        store.pause = { [unowned self] in
            hazard(number)
            await JobQueue.shared.pause()
        }
        store.putBacks = { [unowned self] in (putBacks, arePutBacksHeld) }
        store.fault = { [unowned self, unowned store] kind in commitFault(kind, store) }
        let log = LogSink { [unowned self] line in
            if line.contains("CANARY-") { judge.fail("I15", "a secret in the log: \(line)") }
        }
        let clock: any TimeSource =
            if let room { MachineClock(time: time, room: room, owner: store.owner) } else { time }
        let vault = Vault(path: "memory", store: store, timeSource: clock, logger: log.logger)
        let process = SimulatedProcess(number: number, store: store, vault: vault)
        processes.append(process)
        trace.note("start", number, at: now)
        let transport = SimulatedTransport(self, process: number)
        // Seldom enough that hours of simulated time take no hours of steps.
        let options = UserManagerOptions(recoveryInterval: .seconds(15), random: { [unowned self] in random.unit() })
        jobs.asProcess(number) {
            _ = Task {
                // One that does not reach its vault tries again, as its service manager would have it.
                repeat {
                    do {
                        process.users = try await UserManager(vault: vault, transport: transport, options: options)
                    } catch {
                        process.problem = error
                        guard room != nil else { return }
                        try? await time.sleep(for: .seconds(1))
                    }
                } while process.users == nil && process.isAlive && process.state != .closing
                if visits { visit(process) } else { schedule(process) }
            }
        }
        return process
    }

    private func schedule(_ process: SimulatedProcess) {
        guard hasSchedulers, settledAt == nil, let users = process.users, isCalm || random.chance(70) else { return }
        let options = SchedulerOptions(
            longestPause: .seconds(60), onRenewal: { [unowned self] _ in counts.scheduled += 1 })
        process.scheduler = Task {
            try? await RenewalScheduler(users, options: options).run()
            process.scheduler = nil
        }
    }

    private func openVault(_ clock: (@Sendable () -> Timestamp)? = nil) -> MemoryVaultStore {
        do { return try ledger.vault.open(key, clock: clock) } catch {
            preconditionFailure("the vault does not open: \(error)")
        }
    }

    /// It stops between two jobs, for ever. What it had sent goes on.
    func crash(_ process: SimulatedProcess) {
        trace.note("crash", process.number, at: now)
        counts.crashes += 1
        process.state = .dead
        ledger.vault.database.owners.leave(process.store.owner)
        room?.crash(process.store.owner)
        graves.append(
            Grave(
                jobs: jobs.removeJobs(of: process.number), events: events.removeEvents(of: process.number)))
        calls = calls.filter { $0.value.process != process.number }
        judge.crashed(process.number)
    }

    func stall(_ process: SimulatedProcess, for milliseconds: Int64) {
        trace.note("stall", process.number, Int(milliseconds), at: now)
        counts.stalls += 1
        process.state = .stalled
        room?.stall(process.store.owner)
        events.add(after: milliseconds) { [self] in
            guard process.state == .stalled else { return }
            trace.note("continue", process.number, at: now)
            resume(process)
        }
    }

    func resume(_ process: SimulatedProcess) {
        process.state = .running
        room?.resume(process.store.owner)
    }

    /// A moment at which much depends on what this process has done already.
    func hazard(_ number: Int) {
        guard doomed == nil, random.chance(chaos.hazardRate) else { return }
        let process = processes[number - 1]
        if let room, let machine = room.machine(of: process.store.owner), chaos.cuts > 0, random.chance(50) {
            cut(room, machine)
        } else if let room, let machine = room.machine(of: process.store.owner), chaos.clones > 0, random.chance(40) {
            // Not within a job of another process.
            events.add(after: 1) { [self] in if settledAt == nil { clone(room, machine) } }
        } else if chaos.crashes > 0, random.chance(60) {
            chaos.crashes -= 1
            doomed = (process, true)
        } else if chaos.stalls > 0 {
            chaos.stalls -= 1
            doomed = (process, false)
        }
    }

    /// Nobody dies within a job: it would be half done.
    func meetDoom() {
        guard let doomed else { return }
        self.doomed = nil
        guard doomed.process.isAlive else { return }
        if doomed.dies {
            crash(doomed.process)
        } else if doomed.process.state == .running {
            stall(doomed.process, for: Int64(random.pick([50, 3_000, 30_000, 200_000])))
        }
    }

    func close(_ process: SimulatedProcess) {
        trace.note("close", process.number, at: now)
        process.state = .closing
        let vault = process.vault
        jobs.asProcess(process.number) {
            _ = Task {
                await vault.close()
                process.state = .ended
            }
        }
    }

    /// What happens to the next durable write of a process.
    func commitFault(_ kind: SimulatedStore.Write, _ store: SimulatedStore) -> SimulatedStore.Fault? {
        let fault: SimulatedStore.Fault
        switch kind {
        case .spool, .unspool:
            guard chaos.spool > 0, random.chance(40) else { return nil }
            chaos.spool -= 1
            fault = random.chance(50) ? .before : .after
        case .commit:
            guard chaos.commits > 0, random.chance(chaos.commitRate) else { return nil }
            chaos.commits -= 1
            fault = random.chance(50) ? .before : .after
        }
        counts.failedCommits += 1
        trace.note("commitFault", Int(store.owner), fault == .before ? 0 : 1, at: now, "\(kind)")
        return fault
    }

    // MARK: The end

    /// Lets what is left of the dead come to nothing, so that a million schedules do not fill the memory.
    func bury() {
        for process in processes where process.state != .ended {
            if !process.isAlive { process.store.close() }
            resume(process)
            close(process)
        }
        chaos = .none
        isBurying = true
        for grave in graves {
            jobs.putBack(grave.jobs)
            for event in grave.events { jobs.asProcess(event.process) { event.action() } }
        }
        graves = []
        for exchange in undeliverable { exchange.end(.failure(.init(.notSent, .connect))) }
        undeliverable = []
        let limit = counts.steps + 20_000
        while counts.steps < limit, step() {}
        jobs.reset()
    }
}
