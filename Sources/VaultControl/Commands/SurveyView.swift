import TokenVault
import VaultAdministration

/// The state of a vault's logins, for people and programs.
enum SurveyView {
    private static let longestBar = 40

    static func record(_ survey: VaultSurvey) -> OutputRecord {
        func sum(_ count: KeyPath<VaultSurvey.Group, Int>) -> Int {
            survey.groups.reduce(0) { $0 + $1[keyPath: count] }
        }
        let expiries = survey.bars.map { bar -> OutputRecord in
            [.data("withinSeconds", bar.within.map { Int($0.components.seconds) }), .data("logins", bar.logins)]
        }
        return [
            .line("established", sum(\.established)),
            Field("tokenExpired", sum(\.tokenExpired)).label("token expired or dead"),
            .line("terminated", sum(\.terminated)), .line("dead", sum(\.dead)),
            .line("retrying", sum(\.retrying)), .line("refused", sum(\.refused)), .line("in doubt", sum(\.inDoubt)),
            .line("waiting for the user", sum(\.needsUser)),
            .line("held", sum(\.held) + sum(\.heldBySource)), .line("contested", sum(\.contested)),
            .data("expiries", expiries), .data("expired", survey.expired), .data("withoutExpiry", survey.withoutExpiry),
            Field("damagedLogins", survey.damaged).words(survey.damaged > 0 ? survey.damaged : nil),
            Field("due", survey.due).label("due for renewal"), Field("nextDue", survey.nextDue).label("next renewal"),
            .data("states", survey.groups.map(record)),
        ]
    }

    private static func record(_ group: VaultSurvey.Group) -> OutputRecord {
        [
            Field("provider", group.provider).column("PROVIDER", group.provider ?? "(app)"),
            Field("logins", group.logins).column("LOGINS"), .data("established", group.established),
            .data("tokenExpired", group.tokenExpired), .data("terminated", group.terminated),
            Field("dead", group.dead).column("DEAD"), Field("retrying", group.retrying).column("RETRYING"),
            Field("refused", group.refused).column("REFUSED"),
            Field("inDoubt", group.inDoubt).column("IN DOUBT"),
            Field("needsUser", group.needsUser).column("NEEDS USER"),
            .data("heldByRestore", group.held), .data("heldBySource", group.heldBySource),
            .data("contested", group.contested),
            .line("held", group.held + group.heldBySource + group.contested)
                .column("HELD", group.held + group.heldBySource + group.contested),
            .data("withoutToken", group.failingAndExpired + group.heldAndExpired),
            Field("lastSuccess", group.lastSuccess).column("LAST SUCCESS"),
            .data(
                "lastRefusal",
                group.lastRefusal.map {
                    [.data("at", $0.date), .data("answer", Printable.escape($0.answer.words))] as OutputRecord
                }),
            .data("isFailing", group.isFailing),
        ]
    }

    /// The histogram, followed by the providers, those with problems first.
    static func text(_ survey: VaultSurvey, _ invocation: Invocation) -> String {
        guard survey.logins > 0 else { return "" }
        let (isTerminal, style) = (invocation.isTerminal, invocation.style)
        var text = isTerminal ? "\n" + style.bold("ACCESS TOKENS EXPIRE") + "\n" : ""
        let lines = lines(survey)
        let most = max(1, lines.map(\.count).max() ?? 1)
        let width = lines.map(\.title.count).max() ?? 0
        for line in lines {
            guard isTerminal else {
                text += "access tokens \(line.title)\t\(line.count)\n"
                continue
            }
            // Even one login among a million is visible.
            let longest = min(longestBar, max(4, invocation.console.width - width - 4 - String(most).count))
            let length = line.count == 0 ? 0 : max(1, line.count * longest / most)
            let padding = String(repeating: " ", count: width - line.title.count + 2)
            text += line.title + padding + String(repeating: "█", count: length) + " \(line.count)\n"
        }
        let headings = [
            "PROVIDER", "LOGINS", "REFUSED", "RETRYING", "IN DOUBT", "HELD", "DEAD", "NEEDS USER", "LAST SUCCESS",
        ]
        let table = Table(headings, survey.groups.map(record))
        guard isTerminal else {
            return text + table.lines.split(separator: "\n").map { "provider\t\($0)\n" }.joined()
        }
        let refusals = survey.groups.compactMap { group in
            group.isFailing ? group.lastRefusal.map { (group.provider ?? "app", $0) } : nil
        }.map { name, refusal in
            "\(Printable.shortened(name)) said \(Instant.relative(refusal.date, now: invocation.now)): "
                + "\(Printable.shortened(refusal.answer.words, to: 200))\n"
        }
        return text + "\n" + table.columns(width: invocation.console.width, style: style) + refusals.joined()
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
}
