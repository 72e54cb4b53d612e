import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct VerifyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every cell, every manifest and the audit chain.",
        discussion: "Changes nothing. The exit code is 4 if anything is not as it was written.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let progress = Progress("verifying", on: invocation.console, isQuiet: invocation.isQuiet)
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            return try await vault.verify { progress.update(done: $0, total: $1) }
        }
        try invocation.emit(record(report), text: VerificationView.text(report, invocation))
        guard report.isClean else {
            VerificationView.advise(on: report.findings, invocation)
            throw ExitRequest(status: .damaged)
        }
    }

    private func record(_ report: VerificationReport) -> OutputRecord {
        [
            .data("isClean", report.isClean), .data("users", report.users), .data("logins", report.logins),
            .data("providers", report.providers), .data("auditEntries", report.auditRows),
            .data("findingCount", report.findingCount), .data("findings", VerificationView.findings(report)),
        ]
    }
}
