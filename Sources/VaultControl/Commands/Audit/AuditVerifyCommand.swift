import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

struct AuditVerifyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the whole audit log, and print its last row's number and link.",
        discussion: """
            Checks every link, and that no user, no provider and not the vault itself are older than the log records. \
            Changes nothing. Keep its output somewhere else: with the number and link of a row you can check \
            later that the log up to that row is still the same.

            The exit code is 4 if anything is not as it was written, and 5 if all findings look like former \
            states that were set back. vaultctl verify checks everything else as well.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let progress = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            return try await vault.verifyAudit { progress.update(done: $0, total: $1) }
        }
        try invocation.emit(record(report), text: text(report, invocation))
        guard report.isClean else {
            VerificationView.advise(on: report.findings.filter(\.isOfAudit), invocation)
            throw ExitRequest(status: report.isOnlyRolledBack ? .rollback : .damaged)
        }
    }

    private func text(_ report: AuditReport, _ invocation: Invocation) -> String {
        let pruned = report.prunedThrough > 0 ? ", pruned up to row \(report.prunedThrough)" : ""
        let rows = Count.of(report.entries, "row") + pruned
        let head = "head: \(report.headSequence) \(Data(report.headLink).base64EncodedString())\n"
        guard !report.isClean else { return invocation.style.green("ok") + ": \(rows)\n" + head }
        let hidden = report.findingCount - report.findings.count
        return invocation.text(Table(["WHAT", "WHICH", "PROBLEM"], findings(report)))
            + (hidden > 0 ? "and \(hidden) more\n" : "")
            + invocation.style.red("damaged") + ": \(Count.of(report.findingCount, "finding")) in \(rows)\n" + head
    }

    private func record(_ report: AuditReport) -> OutputRecord {
        let head: OutputRecord = [
            .data("sequence", Int(report.headSequence)), .data("link", Data(report.headLink).base64EncodedString()),
        ]
        return [
            .data("isClean", report.isClean), .data("auditEntries", report.entries), .data("head", head),
            .data("prunedThrough", Int(report.prunedThrough)), .data("findingCount", report.findingCount),
            .data("findings", findings(report)),
        ]
    }

    private func findings(_ report: AuditReport) -> [OutputRecord] {
        report.findings.map(VerificationView.record)
    }
}
