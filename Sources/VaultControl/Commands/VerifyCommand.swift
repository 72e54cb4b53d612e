import ArgumentParser
import TokenVault

struct VerifyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every cell, every manifest and the audit chain.",
        discussion: "Changes nothing. The exit code is 4 if anything is not as it was written.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let progress = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            return try await vault.verify { progress.update(done: $0, total: $1) }
        }
        try invocation.emit(sheet(report), text: text(report, invocation))
        guard report.isClean else { throw ExitRequest(status: .damaged) }
    }

    private func text(_ report: VerificationReport, _ invocation: Invocation) -> String {
        let counts =
            [
                Count.of(report.users, "user"), Count.of(report.logins, "login"),
                Count.of(report.providers, "provider"),
                Count.of(report.auditEntries, "audit entry", plural: "audit entries"),
            ].joined(separator: ", ")
        guard !report.isClean else {
            return invocation.style.green("ok") + ": \(counts)\n"
        }
        let hidden = report.findingCount - report.findings.count
        return invocation.text(Table(["WHAT", "WHICH", "PROBLEM"], findings(report)))
            + (hidden > 0 ? "and \(hidden) more\n" : "")
            + invocation.style.red("damaged") + ": \(Count.of(report.findingCount, "finding")) in \(counts)\n"
    }

    private func sheet(_ report: VerificationReport) -> Sheet {
        [
            .data("isClean", report.isClean), .data("users", report.users), .data("logins", report.logins),
            .data("providers", report.providers), .data("auditEntries", report.auditEntries),
            .data("findingCount", report.findingCount), .data("findings", findings(report)),
        ]
    }

    private func findings(_ report: VerificationReport) -> [Sheet] {
        report.findings.map { finding in
            [
                Field("subject", finding.subject).column("WHAT"), Field("handle", finding.handle).column("WHICH"),
                Field("problem", finding.problem).column("PROBLEM"),
            ]
        }
    }
}
