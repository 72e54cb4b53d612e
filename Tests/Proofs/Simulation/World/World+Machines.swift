import TokenVault
import TokenVaultTesting

extension World {
    private enum Disturbance { case cut, heal, slow, failOver, setClock, clone, putBack }

    private static let disturbances: [(weight: Int, value: Disturbance)] = [
        (12, .cut), (6, .heal), (3, .slow), (3, .failOver), (4, .setClock), (2, .clone),
        (10, .putBack),
    ]

    /// What happens to the network and the database server.
    func disturb(_ room: MachineRoom) {
        let machine = random.below(room.machines.count)
        switch random.weighted(Self.disturbances) {
        case .cut: cut(room, machine)
        case .heal:
            trace.note("heal", machine, at: now)
            room.heal(machine)
        case .slow: room.slow(machine, random.pick([3, 200, 2_000]))
        case .failOver:
            guard chaos.failovers > 0, !room.isDown else { return }
            chaos.failovers -= 1
            counts.failovers += 1
            let time = Int64(random.between(100, 15_000))
            trace.note("failOver", Int(time), at: now)
            room.failOver(for: time)
        case .setClock: setClock(room, machine)
        case .clone: clone(room, machine)
        case .putBack: planPutBack(room)
        }
    }

    /// What is there now comes back after a while: a base backup that is started, without a word; or a standby that was behind
    /// takes the primary's place, and nobody is left who could do again what it lacks.
    private func planPutBack(_ room: MachineRoom) {
        guard chaos.putBacks > 0, !room.isDown else { return }
        chaos.putBacks -= 1
        let earlier = ledger.vault.database.current
        let isPromotion = random.chance(50)
        let time = Int64(isPromotion ? random.between(50, 3_000) : random.between(500, 120_000))
        let putBack = { [self] in
            // Faults have ended, or there is nothing to lose.
            guard settledAt == nil, !room.isDown, ledger.hasChanged(since: earlier) else { return }
            trace.note("putBack", isPromotion ? 1 : 0, Int(time), at: now)
            do { try ledger.putBack(earlier) } catch { judge.unreadable("\(error)") }
            putBacks += 1
            incarnationOfPutBack = ledger.incarnation
            judge.wentBack()
            if isPromotion { counts.promotions += 1 } else { counts.restores += 1 }
            if isPromotion { room.failOver(for: Int64(random.between(100, 15_000))) }
            for user in logIns.keys.sorted() where random.chance(50) {
                askAgain(user, after: random.between(500, 20_000))
            }
        }
        events.add(after: time) { [self] in
            if random.chance(60) { putBackAtRequest = putBack } else { putBack() }
        }
    }

    /// The user of a login that is held logs in again, and a call renews it.
    private func askAgain(_ user: String, after milliseconds: Int) {
        events.add(after: Int64(milliseconds)) { [self] in
            guard settledAt == nil, let login = logIns[user],
                let process = processes.first(where: { $0.state == .running && $0.users != nil }),
                let users = process.users
            else { return }
            replace(process, users, login, user)
            events.add(after: 2_000) { [self] in
                guard settledAt == nil, process.state == .running else { return }
                observed(process, "renew", login) { try await users.accessToken(for: .login(login), .renewed) }
            }
        }
    }

    /// Whether the logins are held that were there when the vault was put back.
    var arePutBacksHeld: Bool { incarnationOfPutBack.map { ledger.incarnation > $0 } ?? true }

    /// By an hour, as of a machine whose clock was in local time; or it is put right.
    private func setClock(_ room: MachineRoom, _ machine: Int) {
        guard chaos.clocks > 0 else { return }
        chaos.clocks -= 1
        counts.clocks += 1
        let hour: Int64 = 3_600_000
        let ahead = random.pick([-hour, 0, hour].filter { $0 != room.machines[machine].ahead })
        trace.note("setClock", machine, Int(ahead), at: now)
        room.setClock(of: machine, ahead: ahead)
    }

    /// A machine is made from the image of one whose processes run, and something on it looks after the vault for a moment.
    func clone(_ room: MachineRoom, _ machine: Int) {
        guard chaos.clones > 0, processes.contains(where: { $0.isAlive && room.machine(of: $0.store.owner) == machine })
        else { return }
        chaos.clones -= 1
        counts.clones += 1
        let copy = room.clone(machine)
        trace.note("clone", machine, copy, at: now)
        if startProcess(on: copy, visits: true) != nil { counts.visits += 1 }
    }

    func cut(_ room: MachineRoom, _ machine: Int) {
        guard chaos.cuts > 0, room.machines[machine].cut == nil else { return }
        chaos.cuts -= 1
        counts.cuts += 1
        let direction = random.pick(MachineRoom.Direction.allCases)
        // Shorter than a connection survives, longer than the server waits, longer than a process counts as alive.
        let time = Int64(random.pick([500, 2_500, 8_000, 30_000, 70_000, 150_000]))
        trace.note("cut", machine, Int(time), at: now, "\(direction)")
        room.cut(machine, direction)
        let change = room.machines[machine].change
        events.add(after: time) {
            if room.machines[machine].change == change { room.heal(machine) }
        }
    }
}
