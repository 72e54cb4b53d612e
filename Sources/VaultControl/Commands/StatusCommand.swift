import ArgumentParser
import TokenVault

struct StatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the vault contains and the state of its logins.",
        discussion: """
            Looks at every login, in bounded memory: a vault of a million takes a while. --brief leaves that out.
            """)

    @Flag(help: "Only what is known without looking at every login.")
    var brief = false

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let path = try access.path
        let progress = CountingProgress(invocation)
        let (status, survey, readOnly) = try await access.open { vault in
            let status = try await vault.status()
            guard !brief else { return (status, nil as VaultSurvey?, vault.readOnlyReason) }
            defer { progress.finish() }
            let survey = try await vault.survey { progress.update(done: $0, total: $1) }
            return (status, survey, vault.readOnlyReason)
        }
        var facts = facts(path, status)
        if readOnly != nil { facts.add("opened", "for reading alone") }
        if let survey { SurveyFacts.add(survey, to: &facts) }
        let text =
            facts.text(isTerminal: invocation.isTerminal, style: invocation.style)
            + (survey.map { SurveyFacts.text($0, invocation) } ?? "")
        try invocation.emit(
            json: .object(
                json(path, status) + [("isReadOnly", .bool(readOnly != nil))]
                    + (survey.map { SurveyFacts.json($0) } ?? [])), text: text)
        if let readOnly { invocation.note(readOnly) }
        if status.lockedMemory != .full {
            invocation.warn("keys may be written to swap: raise the limit of locked memory (ulimit -l)")
        }
    }

    private func facts(_ path: String, _ status: VaultStatus) -> Facts {
        var facts = Facts()
        facts.add("vault", path)
        facts.add("id", status.vaultID)
        facts.add("schema", String(status.schemaVersion))
        facts.add("users", String(status.users))
        facts.add("logins", String(status.logins))
        facts.add("providers", String(status.providers))
        facts.add("key slots", String(status.keySlots))
        facts.add("open renewals", String(status.openRenewals))
        facts.add("pending revocations", String(status.pendingRevocations))
        facts.add("audit entries", String(status.auditEntries))
        facts.add(
            "SQLite",
            status.sqliteVersion
                + (status.isSQLiteAffectedByWALReset
                    ? " (can lose commits at a checkpoint; the vault's own checkpoints avoid it)" : ""))
        facts.add("locked memory", status.lockedMemory.rawValue)
        return facts
    }

    private func json(_ path: String, _ status: VaultStatus) -> [(String, JSONValue)] {
        [
            ("vault", .string(path)), ("id", .string(status.vaultID)),
            ("schemaVersion", .integer(status.schemaVersion)), ("users", .integer(status.users)),
            ("logins", .integer(status.logins)), ("providers", .integer(status.providers)),
            ("keySlots", .integer(status.keySlots)), ("openRenewals", .integer(status.openRenewals)),
            ("pendingRevocations", .integer(status.pendingRevocations)),
            ("auditEntries", .integer(status.auditEntries)), ("sqliteVersion", .string(status.sqliteVersion)),
            ("sqliteIsAffectedByWALReset", .bool(status.isSQLiteAffectedByWALReset)),
            ("lockedMemory", .string(status.lockedMemory.rawValue)),
        ]
    }
}
