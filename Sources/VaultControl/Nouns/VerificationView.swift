import TokenVault
import VaultAdministration
import VaultStorage

/// How the findings of a verification are displayed.
enum VerificationView {
    static func text(_ report: VerificationReport, _ invocation: Invocation) -> String {
        let counts =
            [
                Count.of(report.users, "user"), Count.of(report.logins, "login"),
                Count.of(report.providers, "provider"),
                Count.of(report.auditRows, "audit entry", plural: "audit entries"),
            ].joined(separator: ", ")
        guard !report.isClean else {
            return invocation.style.green("ok") + ": \(counts)\n"
        }
        let hidden = report.findingCount - report.findings.count
        return invocation.text(Table(["WHAT", "WHICH", "PROBLEM"], findings(report)))
            + (hidden > 0 ? "and \(hidden) more\n" : "")
            + invocation.style.red("damaged") + ": \(Count.of(report.findingCount, "finding")) in \(counts)\n"
    }

    /// What to do about findings. A changed row of the audit log is evidence, and is neither listed nor discarded.
    static func advise(on findings: [VerificationReport.Finding], _ invocation: Invocation) {
        if findings.contains(where: { !$0.isOfAudit }) {
            invocation.advise("which rows cannot be opened, and what can be done: vaultctl damage list")
        }
        guard findings.contains(where: \.isOfAudit) else { return }
        invocation.advise(
            "the audit log was changed without the vault's key: keep a copy of the vault, and find out by whom")
        invocation.advise(
            "what it says now: vaultctl audit list --all; rows that the vault never wrote: vaultctl damage list")
    }

    static func findings(_ report: VerificationReport) -> [OutputRecord] { report.findings.map(record) }

    static func record(_ finding: VerificationReport.Finding) -> OutputRecord {
        [
            Field("subject", finding.place).column("WHAT"), Field("handle", finding.subject).column("WHICH"),
            Field("problem", finding.problem).column("PROBLEM"),
        ]
    }
}

extension VerificationReport.Finding {
    var isOfAudit: Bool { place == "audit" }
}
