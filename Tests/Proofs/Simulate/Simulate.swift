import Glibc
import VaultSimulation

/// Plays schedules of the renewal engine in a simulated world: `scripts/proofs/simulate` runs it for many seeds.
@main
enum Simulate {
    static func main() {
        hashDeterministically()
        guard let order = Order(CommandLine.arguments.dropFirst()) else {
            print(
                "usage: simulate [WORLD] [--seed N [--trace]] | [WORLD] [--from SEED] [--schedules COUNT] | --kept"
                    + " | --isolation COUNT | --refusals COUNT | --drifts COUNT\nWORLD: --machines, --schedulers, or both"
            )
            exit(1)
        }
        Simulation.takeOver()
        if let scripts = order.isolation {
            exit(isolate(from: order.from, scripts) ? 0 : 1)
        }
        if let worlds = order.refusals {
            exit(refuse(from: order.from, worlds) ? 0 : 1)
        }
        if let seeds = order.drifts {
            exit(drift(from: order.from, seeds) ? 0 : 1)
        }
        if let seed = order.seed {
            exit(play(seed, order) ? 0 : 1)
        }
        exit(run(order) ? 0 : 1)
    }

    /// The order of sets and dictionaries is part of a schedule: it must be the same in each process.
    private static func hashDeterministically() {
        guard unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil else { return }
        unsafe setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
        var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        unsafe execv("/proc/self/exe", &arguments)
        print("simulate: this program could not start itself again")
        exit(1)
    }

    private static func play(_ seed: UInt64, _ order: Order) -> Bool {
        let result = Simulation.play(
            seed: seed, hasMachines: order.hasMachines, hasSchedulers: order.hasSchedulers, isTraced: order.isTraced)
        for violation in result.violations { print("seed \(seed) (\(result.behaviour)): \(violation)") }
        print("hash \(String(result.hash, radix: 16)) \(result.counts.text)")
        return result.violations.isEmpty
    }

    /// Whether what a provider says to one login changes nothing for others.
    private static func isolate(from first: UInt64, _ scripts: UInt64) -> Bool {
        let counts = Isolation.play(from: first, count: scripts)
        for violation in counts.violations.prefix(10) { print(violation) }
        print(
            "isolation: scripts=\(counts.scripts) replies=\(counts.replies) renewals=\(counts.renewals)"
                + " rows=\(counts.rows) ended=\(counts.ended) failed=\(counts.violations.count)")
        return counts.violations.isEmpty
    }

    /// Whether a server that refuses everybody costs no more than the fuse lets through.
    private static func refuse(from first: UInt64, _ worlds: UInt64) -> Bool {
        let counts = MassRefusals.play(from: first, count: worlds)
        for violation in counts.violations.prefix(10) { print(violation) }
        print(
            "refusals: worlds=\(counts.worlds) requests=\(counts.requests) refusals=\(counts.refusals) lost=\(counts.lost)"
                + " kept=\(counts.kept) ended=\(counts.ended) failed=\(counts.violations.count)")
        return counts.violations.isEmpty
    }

    /// Whether a provider that changes its rules is reported soon, and no other.
    private static func drift(from first: UInt64, _ seeds: UInt64) -> Bool {
        let counts = Drifts.play(from: first, count: seeds)
        for violation in counts.violations.prefix(10) { print(violation) }
        print(
            "drifts: seeds=\(counts.seeds) logins=\(counts.logins) replies=\(counts.replies) looks=\(counts.looks)"
                + " alarms=\(counts.alarms) changes=\(counts.changes) found=\(counts.found) latest=\(counts.latest)"
                + " failed=\(counts.violations.count)")
        return counts.violations.isEmpty
    }

    private static func run(_ order: Order) -> Bool {
        var counts = Counts()
        var failures = 0
        let seeds = order.isKept ? KeptSeeds.all : Array(order.from..<(order.from + order.schedules))
        for (index, seed) in seeds.enumerated() {
            func play() -> Simulation.Result {
                Simulation.play(seed: seed, hasMachines: order.hasMachines, hasSchedulers: order.hasSchedulers)
            }
            let result = play()
            counts += result.counts
            var violations = result.violations
            if index % 50 == 0, play().hash != result.hash {
                violations.append("the same seed was played in two ways")
            }
            guard !violations.isEmpty else { continue }
            failures += 1
            if failures <= 5 {
                for violation in violations.prefix(3) { print("seed \(seed) (\(result.behaviour)): \(violation)") }
            }
        }
        print("failed=\(failures) \(counts.text)")
        return failures == 0
    }
}

/// What is to be played.
private struct Order {
    var seed: UInt64?
    var isolation: UInt64?
    var refusals: UInt64?
    var drifts: UInt64?
    var isTraced = false
    var hasMachines = false
    var hasSchedulers = false
    var isKept = false
    var from: UInt64 = 1
    var schedules: UInt64 = 1_000

    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--trace": isTraced = true
            case "--machines": hasMachines = true
            case "--schedulers": hasSchedulers = true
            case "--kept": isKept = true
            case "--seed", "--from", "--schedules", "--isolation", "--refusals", "--drifts":
                guard let text = rest.popFirst(), let number = UInt64(text), number < 1 << 48 else { return nil }
                switch argument {
                case "--seed": seed = number
                case "--from": from = number
                case "--isolation": isolation = number
                case "--refusals": refusals = number
                case "--drifts": drifts = number
                default: schedules = number
                }
            default: return nil
            }
        }
    }
}
