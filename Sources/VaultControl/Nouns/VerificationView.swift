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

    static func findings(_ report: VerificationReport) -> [OutputRecord] { report.findings.map(record) }

    static func record(_ finding: VerificationReport.Finding) -> OutputRecord {
        [
            Field("subject", finding.place).column("WHAT"), Field("handle", finding.subject).column("WHICH"),
            Field("problem", finding.problem).column("PROBLEM"),
        ]
    }
}
