/// Everything that `doctor` found.
struct DoctorReport {
    let findings: [DoctorFinding]

    var isHealthy: Bool { !findings.contains { $0.level.needsAttention } }

    func emit(_ invocation: Invocation) throws {
        try invocation.emit(
            sheet, text: invocation.isTerminal ? words(invocation.style, width: invocation.console.width) : lines)
    }

    private var sheet: Sheet {
        [.data("isHealthy", isHealthy), .data("findings", findings.map(\.sheet))]
    }

    private var lines: String {
        let columns = ["level", "check", "subject", "text", "hint"]
        return Table(columns, findings.map(\.sheet)).lines
    }

    private func words(_ style: Style, width columns: Int) -> String {
        let width = findings.reduce(0) { max($0, $1.check.words.count) }
        let text = findings.map { finding in
            let padding = String(repeating: " ", count: width - finding.check.words.count + 2)
            let subject = finding.subject.map { Printable.escape($0) + ": " } ?? ""
            let indent = Self.labelWidth + width + 2
            let line =
                Self.label(finding.level, style) + finding.check.words + padding
                + Paragraph.wrapped(subject + Printable.escape(finding.text), indent: indent, width: columns) + "\n"
            let hint = finding.hint.map {
                String(repeating: " ", count: indent) + style.dim("hint") + ": "
                    + Paragraph.wrapped(
                        Printable.escape($0), indent: indent + 6, after: indent + 6, width: columns) + "\n"
            }
            return line + (hint ?? "")
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
