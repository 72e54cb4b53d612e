import VaultPostgreSQL

/// Machines whose processes share a vault on a database server: the network between them, the sessions by which the server
/// knows the processes, and when it heard of each last. The way to the authorization server is not part of it.
///
/// Who may send, and who counts as dead, is decided by the library's own ``OwnershipRules``. Proofs of life are not played one
/// by one: when the last one was follows from since when a process has been proving that it lives.
final class MachineRoom: @unchecked Sendable {
    enum Direction: CaseIterable {
        /// What a machine sends is lost.
        case outward
        /// What is sent to it is lost.
        case inward
        case both
    }

    struct Machine {
        /// nil: its network is whole.
        var cut: Direction?
        /// Of the last change, so that what was planned before it is forgotten.
        var change = 0
        /// How long a message takes, in milliseconds, at most.
        var delay = 3
        /// By how many milliseconds its clock is wrong.
        var ahead: Int64 = 0
        /// Of a machine that was made from the image of another: whose processes have left a file in it, which none holds.
        var copied: Set<Int64> = []
    }

    /// What the server shows of a process, and what the process itself knows.
    struct Peer {
        let machine: Int
        var isRunning = true
        var hasEnded = false
        /// Its session ended in good order, and left nothing under way.
        var hasLeft = false
        /// Whether the process believes in its connection.
        var hasSession = true
        /// Whether the server does.
        var holdsLock = true
        /// Since when it has been proving once a second that it lives.
        var provingSince: Int64?
        /// When its last proof began, and when the server heard of it.
        var provenAt: Int64
        var seenAt: Int64
    }

    /// A process gives up a connection that does not answer.
    static let giveUp: Int64 = 3_000
    /// The server gives up a session that it does not reach.
    static let keepAlive: Int64 = 25_000
    /// After a cut the server finds out, by its next look, that the other end of a session is gone.
    static let look = 10_000

    private unowned let world: World
    private(set) var machines = Array(repeating: Machine(), count: 3)
    private(set) var peers: [Int64: Peer] = [:]
    private(set) var isDown = false

    init(_ world: World) { self.world = world }

    private var now: Int64 { world.now }

    // MARK: Who may send, who lives

    /// As a process sees another one: exactly if that was on the same machine, else by what the server shows.
    func isAlive(_ owner: Int64, seenBy asker: Int64?) -> Bool {
        guard let peer = peers[owner] else { return false }
        if owner == asker { return true }
        if hasEnded(owner, peer, seenBy: asker) { return false }
        let silence = peer.hasLeft ? nil : now - lastSeen(peer)
        return OwnershipRules.maySend(holdsLock: peer.holdsLock, silence: silence.map { .milliseconds($0) })
    }

    /// By the files of the asker's machine.
    private func hasEnded(_ owner: Int64, _ peer: Peer, seenBy asker: Int64?) -> Bool {
        guard let asker, let machine = peers[asker]?.machine else { return false }
        if machine == peer.machine { return OwnershipRules.hasEnded(isLocked: !peer.hasEnded, isProven: true) }
        return machines[machine].copied.contains(owner) && OwnershipRules.hasEnded(isLocked: false, isProven: false)
    }

    /// Whether the process itself is sure that others see it.
    func isSeen(_ owner: Int64) -> Bool {
        guard let peer = peers[owner], !peer.hasEnded else { return false }
        return OwnershipRules.isSeen(lastProof: .milliseconds(now - lastProof(peer)))
    }

    /// Whether this process may lose what comes to it: its session has ended, and the server has not heard of it for a minute.
    /// Not the library's own rule: what the documentation promises.
    func isBeyondPromise(_ owner: Int64) -> Bool {
        guard let peer = peers[owner] else { return true }
        return peer.hasEnded || !peer.holdsLock && now - lastSeen(peer) >= 60_000
    }

    private func lastProof(_ peer: Peer) -> Int64 { last(peer) ?? peer.provenAt }
    private func lastSeen(_ peer: Peer) -> Int64 { last(peer) ?? peer.seenAt }

    private func last(_ peer: Peer) -> Int64? {
        guard let since = peer.provingSince, now >= since else { return nil }
        return now - (now - since) % 1_000
    }

    // MARK: Messages

    func carries(_ owner: Int64, _ direction: Direction) -> Bool {
        guard !isDown, let peer = peers[owner] else { return false }
        let cut = machines[peer.machine].cut
        return cut == nil || cut != .both && cut != direction
    }

    func delay(of owner: Int64) -> Int { peers[owner].map { machines[$0.machine].delay } ?? 0 }

    /// Machines from which a process can open the vault.
    var open: [Int] { isDown ? [] : machines.indices.filter { machines[$0].cut == nil } }

    func machine(of owner: Int64) -> Int? { peers[owner]?.machine }

    /// By how much the clock of a process is wrong.
    func ahead(of owner: Int64) -> Int64 { peers[owner].map { machines[$0.machine].ahead } ?? 0 }

    func setClock(of machine: Int, ahead: Int64) { machines[machine].ahead = ahead }

    /// Another machine, made from the image of one whose processes run.
    func clone(_ machine: Int) -> Int {
        var made = Machine()
        made.ahead = machines[machine].ahead
        made.copied = Set(owners(on: machine).filter { peers[$0]?.hasLeft == false })
        machines.append(made)
        return machines.count - 1
    }

    // MARK: Processes

    func enter(_ owner: Int64, on machine: Int) {
        peers[owner] = Peer(machine: machine, provenAt: now, seenAt: now)
        update(owner) { _ in }
    }

    func stall(_ owner: Int64) { update(owner) { $0.isRunning = false } }

    func resume(_ owner: Int64) {
        guard peers[owner]?.hasEnded == false else { return }
        update(owner) { $0.isRunning = true }
        findOut(owner)
        guard let peer = peers[owner], machines[peer.machine].cut != nil else { return }
        giveUp(owner, machines[peer.machine].change)
    }

    /// Its kernel ends the connection, as far as that reaches.
    func crash(_ owner: Int64) {
        update(owner) { ($0.isRunning, $0.hasEnded) = (false, true) }
        guard carries(owner, .outward) else { return }
        world.events.add(after: 20) { [self] in update(owner) { $0.holdsLock = false } }
    }

    /// - Parameter isIdle: Whether it leaves nothing under way.
    func leave(_ owner: Int64, isIdle: Bool) {
        guard peers[owner]?.hasEnded == false else { return }
        let isHeard = carries(owner, .outward)
        update(owner) { peer in
            (peer.isRunning, peer.hasEnded) = (false, true)
            if isHeard { (peer.holdsLock, peer.hasLeft) = (false, isIdle) }
        }
    }

    // MARK: The network

    func cut(_ machine: Int, _ direction: Direction) {
        change(machine) { $0.cut = direction }
        let change = machines[machine].change
        for owner in owners(on: machine) where peers[owner]?.isRunning == true { giveUp(owner, change) }
        world.events.add(after: Self.keepAlive) { [self] in
            guard machines[machine].change == change else { return }
            for owner in owners(on: machine) { update(owner) { $0.holdsLock = false } }
        }
    }

    func heal(_ machine: Int) {
        guard machines[machine].cut != nil else { return }
        change(machine) { $0.cut = nil }
        for owner in owners(on: machine) { findOut(owner) }
    }

    func slow(_ machine: Int, _ delay: Int) { machines[machine].delay = delay }

    /// The primary is lost, and its standby has every commit that was acknowledged: but no session, and perhaps not the last
    /// proofs of life.
    func failOver(for milliseconds: Int64) {
        isDown = true
        for owner in owners {
            let lost = Int64(world.random.below(1_000))
            update(owner) { peer in
                (peer.holdsLock, peer.hasSession) = (false, false)
                peer.seenAt -= lost
            }
        }
        world.events.add(after: milliseconds) { [self] in
            guard isDown else { return }
            isDown = false
            for owner in self.owners { reconnect(owner) }
        }
    }

    func healAll() {
        isDown = false
        for machine in machines.indices {
            heal(machine)
            slow(machine, 0)
            setClock(of: machine, ahead: 0)
        }
        for owner in owners { findOut(owner) }
    }

    // MARK: Sessions

    private var owners: [Int64] { peers.keys.sorted() }
    private func owners(on machine: Int) -> [Int64] { owners.filter { peers[$0]?.machine == machine } }

    /// Changes what is known of a process, and notes until when it has proved that it lives.
    private func update(_ owner: Int64, _ body: (inout Peer) -> Void) {
        guard var peer = peers[owner] else { return }
        if let last = last(peer) { (peer.provenAt, peer.seenAt) = (last, last) }
        body(&peer)
        peers[owner] = peer
        let isProving =
            peer.isRunning && peer.hasSession && peer.holdsLock && carries(owner, .outward)
            && carries(owner, .inward)
        if isProving == (peer.provingSince != nil) { return }
        // One that goes on proves it by its next second.
        peers[owner]?.provingSince = isProving ? now + Int64(world.random.below(1_000)) : nil
    }

    private func change(_ machine: Int, _ body: (inout Machine) -> Void) {
        machines[machine].change += 1
        body(&machines[machine])
        for owner in owners(on: machine) { update(owner) { _ in } }
    }

    /// The process waits for an answer in vain.
    private func giveUp(_ owner: Int64, _ change: Int) {
        world.events.add(after: Self.giveUp) { [self] in
            guard let peer = peers[owner], machines[peer.machine].change == change, peer.isRunning else { return }
            update(owner) { $0.hasSession = false }
        }
    }

    /// Both sides find out what the other has given up.
    private func findOut(_ owner: Int64) {
        guard let peer = peers[owner], machines[peer.machine].cut == nil, !isDown else { return }
        if peer.isRunning, !peer.holdsLock { update(owner) { $0.hasSession = false } }
        let isGone = peer.hasEnded || !peer.hasSession
        if peer.holdsLock, isGone {
            world.events.add(after: Int64(world.random.below(Self.look))) { [self] in
                guard let peer = peers[owner], peer.hasEnded || !peer.hasSession else { return }
                update(owner) { $0.holdsLock = false }
            }
        }
        reconnect(owner)
    }

    /// Takes the same lock by a new connection, as soon as the former one has lost it.
    private func reconnect(_ owner: Int64) {
        guard let peer = peers[owner], !peer.hasEnded, !peer.hasSession else { return }
        world.events.add(after: Int64(world.random.between(1, 2_000))) { [self] in
            guard let peer = peers[owner], peer.isRunning, !peer.hasSession, !isDown,
                machines[peer.machine].cut == nil
            else { return }
            if peer.holdsLock { return reconnect(owner) }
            update(owner) { ($0.hasSession, $0.holdsLock) = (true, true) }
            world.trace.remark(at: now, "owner \(owner) is connected again")
        }
    }
}
