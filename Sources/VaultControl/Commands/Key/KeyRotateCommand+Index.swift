import TokenVault
import VaultAdministration

extension KeyRotateCommand {
    func replaceIndexKey(_ invocation: Invocation) async throws {
        if dryRun { return try await planIndexKey(invocation) }
        let progress = Progress("finding anew", on: invocation.console, isQuiet: invocation.isQuiet)
        let report = try await VaultAccess(global, invocation).open { vault in
            defer { progress.finish() }
            return try await vault.replaceIndexKey { progress.update(done: $0, total: $1) }
        }
        let moved: OutputRecord = [
            .data("users", report.users), .data("providers", report.providers),
            .data("authorizationRequests", report.authorizationRequests),
        ]
        let record: OutputRecord = [
            .data("isComplete", report.isComplete), .data("isResumed", report.isResumed), .data("moved", moved),
            .data("damaged", report.damaged),
        ]
        try invocation.emit(record, text: "")
        let count = report.users + report.providers + report.authorizationRequests
        guard !report.isComplete else {
            return invocation.note("replaced the index key: \(Count.of(count, "row")) found by the new one")
        }
        invocation.warn("the former index key is kept: \(Count.of(report.damaged, "row")) cannot be opened")
        invocation.hint("see which: vaultctl damage list; then run vaultctl key rotate --index again")
        throw ExitRequest(status: .partlyDone)
    }

    private func planIndexKey(_ invocation: Invocation) async throws {
        let (index, status) = try await VaultAccess(global, invocation).open {
            (try await $0.indexKeyStatus(), try await $0.status())
        }
        let record: OutputRecord = [
            .data("isDryRun", true), .data("isResumed", index.isReplacing), .data("users", status.users),
            .data("providers", status.providers),
        ]
        try invocation.emit(record, text: "")
        let what = "\(Count.of(status.users, "user")) and \(Count.of(status.providers, "provider"))"
        invocation.note(
            index.isReplacing
                ? "dry run: would continue a replacement, and check \(what)"
                : "dry run: would make a new index key, and reindex \(what)")
    }
}
