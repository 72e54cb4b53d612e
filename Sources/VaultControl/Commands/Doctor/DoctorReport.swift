/// Prints `doctor`'s findings: for people with the worst first, for programs as they arrive.
final class DoctorReport {
    private let invocation: Invocation
    private var findings: [DoctorFinding] = []

    private let accepted: Set<DoctorFinding.Check>

    /// - Parameter accepted: checks whose warnings are intended. Problems are never accepted.
    init(_ invocation: Invocation, accepting accepted: Set<DoctorFinding.Check> = []) {
        self.invocation = invocation
        self.accepted = accepted
    }

    var isHealthy: Bool { !findings.contains(where: \.needsAttention) }

    func add(_ unjudged: [DoctorFinding]) throws {
        guard !unjudged.isEmpty else { return }
        let found = unjudged.map { finding in
            var finding = finding
            finding.isAccepted = finding.level == .warning && accepted.contains(finding.check)
            return finding
        }
        if invocation.isJSON { try invocation.console.write(json(found), to: .output) }
        findings += found
    }

    func finish() throws {
        guard !invocation.isJSON else {
            let start = findings.isEmpty ? "{\"findings\":[" : "\n"
            return try invocation.console.write("\(start)],\"isHealthy\":\(isHealthy)}\n", to: .output)
        }
        try writeFound()
        if invocation.isTerminal { try invocation.console.write("\n" + summary + "\n", to: .output) }
    }

    /// Also writes the findings of an interrupted run.
    func writeFound() throws {
        guard !invocation.isJSON else { return }
        let sorted = DoctorFinding.Level.allCases.reversed().flatMap { level in
            findings.filter { $0.shownLevel == level }
        }
        try invocation.console.write(invocation.isTerminal ? words(sorted) : Self.lines(sorted), to: .output)
    }

    private func json(_ found: [DoctorFinding]) -> String {
        let start = findings.isEmpty ? "{\"findings\":[\n" : ",\n"
        return start + found.map(\.record.json.text).joined(separator: ",\n")
    }

    private static func lines(_ found: [DoctorFinding]) -> String {
        Table(["level", "check", "subject", "text", "hint"], found.map(\.record)).lines
    }

    private func words(_ found: [DoctorFinding]) -> String {
        let (style, columns) = (invocation.style, invocation.console.width)
        let width = Self.checkWidth
        return found.map { finding in
            let padding = String(repeating: " ", count: width - finding.check.words.count + 2)
            let subject = finding.subject.map { Printable.escape($0) + ": " } ?? ""
            let indent = Self.labelWidth + width + 2
            let line =
                Self.label(finding.shownLevel, style) + finding.check.words + padding
                + Paragraph.wrapped(
                    subject + Printable.escape(finding.text) + (finding.isAccepted ? " (accepted)" : ""),
                    indent: indent, width: columns) + "\n"
            let hint = finding.hint.map {
                String(repeating: " ", count: indent) + style.dim("hint") + ": "
                    + Paragraph.wrapped(
                        Printable.escape($0), indent: indent + 6, after: indent + 6, width: columns) + "\n"
            }
            return line + (hint ?? "")
        }.joined()
    }

    private var summary: String {
        let found = findings
        let accepted = found.count(where: \.isAccepted)
        let count = { (level: DoctorFinding.Level) in found.count { $0.level == level && !$0.isAccepted } }
        let unseen = found.count { !$0.wasLookedAt }
        let parts = [
            Count.of(count(.problem), "problem"), Count.of(count(.warning), "warning"), Count.of(count(.note), "note"),
        ]
        return (parts + (accepted > 0 ? ["\(accepted) accepted"] : []) + (unseen > 0 ? ["\(unseen) not checked"] : []))
            .joined(separator: ", ")
    }

    private static let labelWidth = 9
    /// The same before all findings are known.
    private static let checkWidth = DoctorFinding.Check.allCases.map(\.words.count).max() ?? 0

    private static func label(_ level: DoctorFinding.Level, _ style: Style) -> String {
        let padding = String(repeating: " ", count: labelWidth - level.rawValue.count)
        let word =
            switch level {
            case .ok: style.green(level.rawValue)
            case .note: style.dim(level.rawValue)
            case .warning: style.yellow(level.rawValue)
            case .problem: style.red(level.rawValue)
            }
        return word + padding
    }
}
