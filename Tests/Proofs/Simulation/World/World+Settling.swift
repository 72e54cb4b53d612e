import TokenVault
import VaultStorage

extension World {
    /// Nothing goes wrong any more; whoever waits gets an answer, and every login comes to rest.
    func settle() {
        trace.note("settle", at: now)
        meetDoom()
        chaos = .none
        room?.healAll()
        for process in processes where process.state == .stalled { resume(process) }
        stopSchedulers()
        lookAfterMachines()
        if !processes.contains(where: { $0.state == .running }) { startProcess() }
        _ = run(for: 10_000) { processes.contains { $0.state == .running && $0.users != nil } }
        // Two stall limits: whoever waits for another process has given up by then.
        if !run(for: 400_000, until: { calls.isEmpty }) {
            for call in calls.values { judge.fail("I16", "nobody answers: \(call.name) since \(call.since)") }
            return
        }
        for _ in 0..<12 {
            let restless = logIns.sorted { $0.key < $1.key }.map(\.value).filter { !judge.isAtRest($0) }
            if restless.isEmpty { break }
            for login in restless { wake(login) }
            _ = run(for: 1_000_000) { calls.isEmpty }
        }
        // Who was to leave may have left something since.
        lookAfterMachines()
        // Two passes of recovery, once those count as dead who are.
        _ = run(for: room == nil ? 31_000 : 92_000) { false }
    }

    /// What they began is finished; what is due from now on is not.
    private func stopSchedulers() {
        settledAt = now
        for process in processes where process.isAlive {
            jobs.asProcess(process.number) { process.scheduler?.cancel() }
        }
        let areStill = run(for: 400_000) { processes.allSatisfy { !$0.isAlive || $0.scheduler == nil } }
        if !areStill { judge.fail("I16", "a scheduler does not end") }
    }

    /// Starts a process on each machine that has spooled replies and runs none: only its own processes find them.
    private func lookAfterMachines() {
        guard let room else { return }
        for owner in ledger.spooled.keys.sorted() {
            guard let machine = room.machine(of: owner),
                !processes.contains(where: {
                    $0.state == .running && room.machine(of: $0.store.owner) == machine
                })
            else { continue }
            startProcess(on: machine)
        }
    }

    /// Waits until the login may be renewed, and renews it.
    private func wake(_ login: LoginID) {
        if let notBefore = ledger.logins[login.handle]?.session.notBefore {
            let wait = notBefore.milliseconds - time.milliseconds
            if wait > 0 { _ = run(for: wait + 1) { false } }
        }
        guard let process = processes.first(where: { $0.state == .running && $0.users != nil }),
            let users = process.users
        else { return }
        observed(process, "settle", login) { try await users.accessToken(for: .login(login), .renewed) }
        _ = run(for: 400_000) { calls.isEmpty }
        // A breaker may be open.
        _ = run(for: 31_000) { judge.isAtRest(login) }
    }
}
