import Synchronization
import TokenVault

/// How the logins of a vault stand, for people and programs.
enum SurveyFacts {
    private static let longestBar = 40

    static func add(_ survey: VaultSurvey, to facts: inout Facts) {
        func sum(_ count: KeyPath<VaultSurvey.Group, Int>) -> Int {
            survey.groups.reduce(0) { $0 + $1[keyPath: count] }
        }
        facts.add("established", String(sum(\.established)))
        facts.add("token expired", String(sum(\.tokenExpired)))
        facts.add("terminated", String(sum(\.terminated)))
        facts.add("failed", String(sum(\.failed)))
        facts.add("retrying", String(sum(\.retrying)))
        facts.add("in doubt", String(sum(\.inDoubt)))
        facts.add("waiting for the user", String(sum(\.needsUser)))
        if survey.damaged > 0 { facts.add("damaged logins", String(survey.damaged)) }
        facts.add("due for renewal", String(survey.due))
        facts.add("next renewal", survey.nextDue.map { Instant.words($0, now: survey.takenAt) })
    }

    /// The histogram, and the providers where something is wrong before the others.
    static func text(_ survey: VaultSurvey, _ invocation: Invocation) -> String {
        guard survey.logins > 0 else { return "" }
        let (isTerminal, style) = (invocation.isTerminal, invocation.style)
        var text = isTerminal ? "\n" + style.bold("ACCESS TOKENS RUN OUT") + "\n" : ""
        let lines = lines(survey)
        let most = max(1, lines.map(\.count).max() ?? 1)
        let width = lines.map(\.title.count).max() ?? 0
        for line in lines {
            guard isTerminal else {
                text += "access tokens \(line.title)\t\(line.count)\n"
                continue
            }
            // Whoever is there is seen.
            let length = line.count == 0 ? 0 : max(1, line.count * longestBar / most)
            let padding = String(repeating: " ", count: width - line.title.count + 2)
            text += line.title + padding + String(repeating: "█", count: length) + " \(line.count)\n"
        }
        var table = Table("PROVIDER", "LOGINS", "RETRYING", "IN DOUBT", "FAILED", "NEEDS USER")
        for group in survey.groups {
            table.append(
                group.provider ?? "(app)", String(group.logins), String(group.retrying), String(group.inDoubt),
                String(group.failed), String(group.needsUser))
        }
        guard isTerminal else {
            return text
                + table.rows.map { "provider\t" + $0.map(Printable.escape).joined(separator: "\t") + "\n" }.joined()
        }
        return text + "\n" + table.text(isTerminal: true, style: style)
    }

    private static func lines(_ survey: VaultSurvey) -> [(title: String, count: Int)] {
        var lines = [("expired", survey.expired)]
        for bar in survey.bars {
            lines.append(
                (bar.within.map { "within \(Instant.duration($0 / .seconds(1)))" } ?? "later", bar.logins))
        }
        lines.append(("unknown", survey.withoutExpiry))
        return lines
    }

    static func json(_ survey: VaultSurvey) -> [(String, JSONValue)] {
        [
            (
                "expiries",
                .array(
                    survey.bars.map { bar in
                        .object([
                            ("withinSeconds", bar.within.map { .integer(Int($0.components.seconds)) } ?? .null),
                            ("logins", .integer(bar.logins)),
                        ])
                    })
            ),
            ("expired", .integer(survey.expired)), ("withoutExpiry", .integer(survey.withoutExpiry)),
            ("damagedLogins", .integer(survey.damaged)), ("due", .integer(survey.due)),
            ("nextDue", Instant.json(survey.nextDue)),
            (
                "states",
                .array(
                    survey.groups.map { group in
                        .object([
                            ("provider", JSONValue(group.provider)), ("logins", .integer(group.logins)),
                            ("established", .integer(group.established)),
                            ("tokenExpired", .integer(group.tokenExpired)),
                            ("terminated", .integer(group.terminated)), ("failed", .integer(group.failed)),
                            ("retrying", .integer(group.retrying)), ("inDoubt", .integer(group.inDoubt)),
                            ("needsUser", .integer(group.needsUser)), ("isFailing", .bool(group.isFailing)),
                        ])
                    })
            ),
        ]
    }
}

/// A progress bar on a terminal; elsewhere one line, if it takes long.
final class CountingProgress: Sendable {
    private let bar: Progress
    private let invocation: Invocation
    private let started = ContinuousClock.now
    private let hasTold = Atomic<Bool>(false)

    init(_ invocation: Invocation) {
        self.invocation = invocation
        bar = Progress("counting logins", on: invocation.console, isQuiet: invocation.isQuiet)
    }

    func update(done: Int, total: Int) {
        if invocation.console.isRich(.error) {
            // What is counted before anybody looks needs no bar.
            if ContinuousClock.now - started > .milliseconds(300) { bar.update(done: done, total: total) }
        } else if ContinuousClock.now - started > .seconds(3), !hasTold.exchange(true, ordering: .relaxed) {
            invocation.note("counting \(total) logins; --brief leaves that out")
        }
    }

    func finish() { bar.finish() }
}
