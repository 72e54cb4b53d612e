import ArgumentParser
import TokenVault

struct VerifyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every cell, every manifest and the audit chain.",
        discussion: "Changes nothing. Exit code 4 if anything is not as it was written.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let progress = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            return try await vault.verify { progress.update(done: $0, total: $1) }
        }
        try invocation.emit(json: json(report), text: text(report, invocation))
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
        var table = Table("WHAT", "WHICH", "PROBLEM")
        for finding in report.findings {
            table.append(finding.subject, finding.handle ?? "", finding.problem)
        }
        let hidden = report.findingCount - report.findings.count
        return table.text(isTerminal: invocation.isTerminal, style: invocation.style)
            + (hidden > 0 ? "and \(hidden) more\n" : "")
            + invocation.style.red("damaged") + ": \(Count.of(report.findingCount, "finding")) in \(counts)\n"
    }

    private func json(_ report: VerificationReport) -> JSONValue {
        .object([
            ("isClean", .bool(report.isClean)), ("users", .integer(report.users)),
            ("logins", .integer(report.logins)), ("providers", .integer(report.providers)),
            ("auditEntries", .integer(report.auditEntries)), ("findingCount", .integer(report.findingCount)),
            (
                "findings",
                .array(
                    report.findings.map { finding in
                        .object([
                            ("subject", .string(finding.subject)), ("handle", JSONValue(finding.handle)),
                            ("problem", .string(finding.problem)),
                        ])
                    })
            ),
        ])
    }
}
