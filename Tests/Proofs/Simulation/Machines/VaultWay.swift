import VaultPostgreSQL
import VaultStorage

/// The way of one process to a vault on a server: messages take their time, and may be lost.
final class VaultWay: @unchecked Sendable {
    private unowned let world: World
    private let room: MachineRoom
    /// Whose timers these are.
    private let process: Int
    private let owner: Int64
    private var isWriting = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ world: World, _ room: MachineRoom, process: Int, owner: Int64) {
        self.world = world
        self.room = room
        self.process = process
        self.owner = owner
    }

    func leave() {
        let isIdle = !world.ledger.logins.values.contains { $0.intent?.owner == owner }
        room.leave(owner, isIdle: isIdle)
    }

    var isSeen: Bool { room.isSeen(owner) }

    /// Whether a process that has ended left its spool where this one finds it.
    func finds(_ other: Int64) -> Bool {
        other == owner || room.peers[other]?.hasEnded == true && room.machine(of: other) == room.machine(of: owner)
    }

    // MARK: Messages

    /// Until the server has the question. A connection that does not answer is given up, and another one tried.
    func arrive() async throws(StoreError) {
        await pass(world.random.below(room.delay(of: owner) + 1))
        if room.carries(owner, .outward) { return }
        await pass(world.random.between(1_000, 11_000))
        guard room.carries(owner, .outward), room.carries(owner, .inward) else { throw .unreachable }
    }

    /// Until the answer is there; false if it never comes.
    func hear() async -> Bool {
        await pass(world.random.below(room.delay(of: owner) + 1))
        if room.carries(owner, .inward) { return true }
        await pass(world.random.between(1_000, 11_000))
        return false
    }

    /// Asks what became of a commit, as the library does, and as often. False if that cannot be found out.
    func settle() async -> Bool {
        for pause in [0, 250, 500, 1_000, 2_000] {
            await pass(pause)
            if room.carries(owner, .outward), room.carries(owner, .inward) { return true }
            await pass(world.random.between(100, 6_000))
        }
        return false
    }

    private func pass(_ milliseconds: Int) async {
        if milliseconds == 0 || world.isBurying { return }
        await withCheckedContinuation { continuation in
            world.events.add(after: Int64(milliseconds), of: process) { continuation.resume() }
        }
    }

    // MARK: The process's one writer

    func beginWriting() async {
        if isWriting { return await withCheckedContinuation { waiting.append($0) } }
        isWriting = true
    }

    func endWriting() {
        if waiting.isEmpty { isWriting = false } else { waiting.removeFirst().resume() }
    }
}
