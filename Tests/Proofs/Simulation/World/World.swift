import FoundationEssentials
import OAuthClient
import TokenVault
import TokenVaultTesting
import VaultStorage

/// One simulated machine room: processes that share a vault, a network, a server; and the seed that decides everything.
/// One thread runs all of it.
final class World: @unchecked Sendable {
    let seed: UInt64
    var random: SeededRandom
    let jobs = JobQueue.shared
    let events = EventQueue()
    let time: SimulatedTime
    let key: MemoryKey
    let ledger: VaultLedger
    let server: SimulatedServer
    let judge: Judge
    /// nil: all processes are on the machine that has the vault.
    private(set) var room: MachineRoom?
    /// Whether processes run schedulers.
    let hasSchedulers: Bool
    /// Whether only schedulers renew tokens before they are needed: callers take what there is.
    let isCalm: Bool
    /// When faults ended and schedulers were told to stop.
    var settledAt: Int64?
    var trace: Trace
    var counts = Counts()

    var processes: [SimulatedProcess] = []
    /// Who has been called and has not answered.
    var calls: [Int: Call] = [:]
    var lastCall = 0
    /// Still to be done, and still to go wrong.
    var actionsLeft: Int
    var chaos = Chaos.none
    private let plannedChaos: Chaos
    /// What belonged to the dead, to be put to rest when all is judged.
    var graves: [Grave] = []
    /// Replies for the dead.
    var undeliverable: [Exchange] = []
    /// Everything is judged; nothing counts any more.
    var isBurying = false
    /// Puts it back as soon as a request is under way.
    var putBackAtRequest: (() -> Void)?
    /// How often the vault was put back to an earlier state, and the incarnation that it had then.
    var putBacks = 0
    var incarnationOfPutBack: Int64?
    /// Who stalls or dies before the next step.
    var doomed: (process: SimulatedProcess, dies: Bool)?
    var logIns: [String: LoginID] = [:]

    struct Grave {
        let jobs: [JobQueue.Job]
        let events: [EventQueue.Event]
    }

    /// How much may go wrong.
    struct Chaos {
        var network: Int
        var commits: Int
        var spool: Int
        var crashes: Int
        var stalls: Int
        var cuts = 0
        var failovers = 0
        var clones = 0
        var clocks = 0
        var putBacks = 0
        /// How often it does, in percent, as long as there is some left.
        var networkRate = 0
        var commitRate = 0
        /// Of crashes and stalls at the moments that matter: around a request, its reply and a commit.
        var hazardRate = 0

        static let none = Chaos(network: 0, commits: 0, spool: 0, crashes: 0, stalls: 0)
    }

    static let stepLimit = 60_000

    init(seed: UInt64, hasMachines: Bool, hasSchedulers: Bool, isTraced: Bool) {
        self.seed = seed
        self.hasSchedulers = hasSchedulers
        var random = SeededRandom(seed: seed)
        time = SimulatedTime(events)
        let time = time
        Randomness.begin(seed)
        do {
            key = try MemoryKey()
            ledger = try VaultLedger(MemoryVault(firstSlot: key) { time.timestamp }, key)
        } catch {
            preconditionFailure("the vault cannot be made: \(error)")
        }
        isCalm = hasSchedulers && random.chance(50)
        server = SimulatedServer(
            random.pick(isCalm ? Behaviour.calm : Behaviour.allCases),
            lifetime: random.pick(isCalm ? [20, 20, 60] : [20, 60, 600]))
        judge = Judge()
        trace = Trace(isPrinted: isTraced)
        actionsLeft = random.between(5, hasMachines ? 40 : 22)
        var planned = Chaos(
            network: random.between(0, 4), commits: random.between(0, 3), spool: random.between(0, 1),
            crashes: random.between(0, 2), stalls: random.chance(30) ? 1 : 0, networkRate: random.pick([10, 40, 80]),
            commitRate: random.pick([5, 15, 40]), hazardRate: random.pick([0, 2, 8]))
        if hasMachines {
            (planned.cuts, planned.failovers) = (random.between(0, 4), random.between(0, 1))
            planned.stalls += random.between(0, 1)
            planned.hazardRate = random.pick([2, 10, 30])
            (planned.clones, planned.clocks) = (random.between(0, 1), random.chance(50) ? random.between(1, 3) : 0)
            planned.putBacks = random.chance(50) ? 1 : 0
        }
        if isCalm { (planned.network, planned.networkRate, planned.crashes) = (6, random.pick([20, 60]), 3) }
        plannedChaos = planned
        self.random = random
        ledger.observer = judge
        judge.world = self
        guard hasMachines else { return }
        let room = MachineRoom(self)
        self.room = room
        ledger.vault.database.owners.decideLiveness { [unowned self] owner in
            room.isAlive(owner, seenBy: jobs.current == 0 ? nil : processes[jobs.current - 1].store.owner)
        }
    }

    var now: Int64 { events.now }

    // MARK: Steps

    /// One step: a job runs, or time moves on to the next event. False if nothing is left to happen before `limit`.
    func step(until limit: Int64 = .max) -> Bool {
        counts.steps += 1
        meetDoom()
        let runnable = jobs.ready.indices.filter { isRunnable(jobs.ready[$0].process) }
        let next = events.nextTime.map { $0 <= limit } ?? false
        // Mostly what is ready runs; now and then time passes first, as on a busy machine.
        let prefersEvent = next && random.chance(8) && (events.nextTime ?? 0) - now < 2_000
        if !runnable.isEmpty, !prefersEvent {
            let index = runnable[random.below(runnable.count)]
            trace.note("run", jobs.ready[index].process, runnable.count, at: now)
            jobs.run(index)
            return true
        }
        guard next, let event = events.takeNext() else { return false }
        trace.note("event", event.process, at: now)
        jobs.asProcess(event.process) { event.action() }
        return true
    }

    private func isRunnable(_ process: Int) -> Bool {
        process == 0 || processes[process - 1].state != .stalled
    }

    /// Steps until `condition` holds; false if it did not in this simulated time or in so many steps.
    func run(for milliseconds: Int64, until condition: () -> Bool) -> Bool {
        let limit = now + milliseconds
        while !condition() {
            guard counts.steps < Self.stepLimit else {
                judge.fail("I16", "there is no end: \(Self.stepLimit) steps")
                return false
            }
            if !step(until: limit) {
                events.advance(by: max(0, limit - now))
                return condition()
            }
        }
        return true
    }

    // MARK: The whole

    func play() {
        open()
        while actionsLeft > 0, counts.steps < Self.stepLimit {
            if random.chance(10) || !step(until: now + 3_000) {
                actionsLeft -= 1
                if let room, random.chance(25) { disturb(room) } else { act() }
            }
        }
        settle()
        judge.judgeEnd()
        bury()
    }

    private func open() {
        for _ in 0..<random.between(1, 3) { startProcess() }
        jobs.asProcess(1) {
            let vault = processes[0].vault
            let registration = Result { try self.registration() }
            _ = Task {
                do { try await vault.addProvider(registration.get()) } catch {
                    if ledger.providerCount != 1 { judge.fail("world", "\(error)") }
                }
            }
        }
        _ = run(for: 1_000) { ledger.providerCount == 1 && processes.allSatisfy { $0.users != nil } }
        for index in 0..<random.between(1, 2) { logIn("u\(index)") }
        _ = run(for: 1_000) { calls.isEmpty }
        if random.chance(4) { beginIncarnation() }
        chaos = plannedChaos
    }

    /// As a restored backup does: what a login can send is held.
    private func beginIncarnation() {
        let incarnation = ledger.incarnation + 1
        jobs.asProcess(1) {
            let store = processes[0].store
            _ = Task {
                do {
                    try await store.holdAllLogins(AuditEvent(.vaultMigrated))
                } catch {
                    // A process may be cut off before it hears that it is done.
                    if ledger.incarnation != incarnation { judge.fail("world", "\(error)") }
                }
            }
        }
        _ = run(for: 1_000) { ledger.incarnation == incarnation }
    }

    private func registration() throws -> ProviderRegistration {
        var registration = try ProviderRegistration(
            name: "server", issuer: Issuer("https://server.example"),
            tokenEndpoint: EndpointURL("https://server.example/token"),
            revocationEndpoint: EndpointURL("https://server.example/revoke"), clientID: Self.clientID,
            authentication: .none,
            dpop: server.behaviour == .nonceFirst ? .required : .optional)
        registration.profileDocument = Array(server.behaviour.profile.utf8)
        return registration
    }

    private static let clientID: ClientID = {
        guard let id = try? ClientID("client") else { preconditionFailure("a client id") }
        return id
    }()
}
