extension World {
    private enum Disturbance { case cut, heal, slow, failOver }

    private static let disturbances: [(weight: Int, value: Disturbance)] = [
        (12, .cut), (6, .heal), (3, .slow), (3, .failOver),
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
        }
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
