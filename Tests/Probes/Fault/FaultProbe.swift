import CFaultVFS
import Foundation

/// `fault-probe SUITE [name=value …]`: lets the disk under a vault fail in one way after the other, and says what became
/// of the vault. A process of its own, because its SQLite runs on files that fail, and because it may die of it.
///
/// Prints `FAIL …` for whatever must not be, and ends with status 1 then.
@main
struct FaultProbe {
    static func main() async throws {
        let options = Options(CommandLine.arguments.dropFirst(2))
        // A run that hangs ends by a signal, which the test sees.
        alarm(UInt32(options.integer("seconds", or: 1800)))
        let report = Report()
        switch CommandLine.arguments.dropFirst().first {
        case "sweep": try await IOSweep(options, report).run()
        case "race": try await CheckpointRace(options, report).run()
        case "settle": try await SettledCommit(report).run()
        case "power": try await PowerLoss(options, report).run()
        case "damage": try await Damage(options, report).run()
        case "kill": try await KillSweep(options, report).run()
        case "creation": try await CreationSweep(report).run()
        case "creator": try Creation.run(options)
        case "victim": try await Victim.die(options)
        case "reader": try Reader.hold(options)
        case "neighbour": try await ProcessNeighbour.serve(options)
        default: exit(64)
        }
        exit(report.failures == 0 ? 0 : 1)
    }
}

/// `name=value` arguments.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
    }

    func text(_ name: String) -> String? { values[name] }
    func integer(_ name: String, or fallback: Int) -> Int { values[name].flatMap { Int($0) } ?? fallback }
}

/// What is said of the runs.
final class Report {
    private(set) var failures = 0
    private(set) var tally: [String: Int] = [:]

    func fail(_ text: String) {
        failures += 1
        if failures <= 50 { say("FAIL \(text)") }
    }

    func count(_ what: String, _ number: Int = 1) { tally[what, default: 0] += number }

    /// The counts so far, most frequent first, and forgets them.
    func takeTally() -> String {
        defer { tally = [:] }
        return tally.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }
}

/// One write call for each line.
func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}
