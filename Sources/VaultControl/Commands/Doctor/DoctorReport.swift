/// Everything that `doctor` found.
struct DoctorReport {
    let findings: [DoctorFinding]

    var isHealthy: Bool { !findings.contains { $0.level.needsAttention } }

    func emit(_ invocation: Invocation) throws {
        try invocation.emit(sheet, text: invocation.isTerminal ? words(invocation.style) : lines)
    }

    private var sheet: Sheet {
        [.data("isHealthy", isHealthy), .data("findings", findings.map(\.sheet))]
    }

    private var lines: String {
        let columns = ["level", "check", "subject", "text", "hint"]
        return Table(columns, findings.map(\.sheet)).text(isTerminal: false, style: Style(isRich: false))
    }

    private func words(_ style: Style) -> String {
        let width = findings.reduce(0) { max($0, $1.check.words.count) }
        let text = findings.map { finding in
            let padding = String(repeating: " ", count: width - finding.check.words.count + 2)
            let subject = finding.subject.map { Printable.escape($0) + ": " } ?? ""
            let line =
                Self.label(finding.level, style) + finding.check.words + padding + subject
                + Printable.escape(finding.text) + "\n"
            let indent = String(repeating: " ", count: Self.labelWidth + width + 2)
            return line + (finding.hint.map { "\(indent)\(style.dim("hint")): \(Printable.escape($0))\n" } ?? "")
        }.joined()
        return text + "\n" + summary + "\n"
    }

    private var summary: String {
        let count = { (level: DoctorFinding.Level) in findings.count { $0.level == level } }
        let unseen = findings.count { !$0.wasLookedAt }
        let parts = [
            Count.of(count(.problem), "problem"), Count.of(count(.warning), "warning"), Count.of(count(.note), "note"),
        ]
        return (parts + (unseen > 0 ? ["\(unseen) not checked"] : [])).joined(separator: ", ")
    }

    private static let labelWidth = 9

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
