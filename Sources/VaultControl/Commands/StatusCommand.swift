import ArgumentParser
import TokenVault

struct StatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the vault contains and the state of its logins.",
        discussion: """
            Reads every login, in bounded memory: a vault with a million takes a while. --brief skips that.
            """)

    @Flag(help: "Show only what is known without reading every login.")
    var brief = false

    @Option(name: .shortAndLong, help: .init("Count only the logins at this provider.", valueName: "name"))
    var provider: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard !brief || provider == nil else { throw ValidationError("--brief and --provider cannot be combined") }
    }

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let path = try access.path
        let progress = CountingProgress("counting logins", advice: "; --brief skips that", invocation)
        let (status, survey, readOnly) = try await access.open { vault in
            let status = try await vault.status()
            guard !brief else { return (status, nil as VaultSurvey?, vault.readOnlyReason) }
            defer { progress.finish() }
            let survey = try await vault.survey(provider: provider) { progress.update(done: $0, total: $1) }
            return (status, survey, vault.readOnlyReason)
        }
        let isReadOnly = readOnly != nil
        var sheet = sheet(path, status)
        sheet += [
            Field("isReadOnly", isReadOnly).label("opened").words(isReadOnly ? "read-only" : nil),
            Field("configuration", invocation.configuration?.path),
        ]
        if let survey { sheet += SurveyFacts.sheet(survey) }
        try invocation.emit(
            sheet, text: invocation.text(sheet) + (survey.map { SurveyFacts.text($0, invocation) } ?? ""))
        if let readOnly { invocation.note(readOnly) }
        if status.lockedMemory != .full {
            invocation.warn("keys may be written to swap: raise the limit on locked memory (ulimit -l)")
        }
    }

    private func sheet(_ path: String, _ status: VaultStatus) -> Sheet {
        let sqlite =
            status.sqliteVersion
            + (status.isSQLiteAffectedByWALReset
                ? " (has a bug that can lose commits at a checkpoint; the vault's own checkpoints avoid it)" : "")
        return [
            Field("vault", path), Field("id", status.vaultID), Field("schemaVersion", status.schemaVersion),
            Field("users", status.users), Field("logins", status.logins), Field("providers", status.providers),
            Field("keySlots", status.keySlots), Field("openRenewals", status.openRenewals),
            Field("pendingRevocations", status.pendingRevocations), Field("auditEntries", status.auditEntries),
            Field("lastBackupAt", status.lastBackupAt).label("last backup").orWords("none"),
            Field("sqliteVersion", status.sqliteVersion).label("SQLite").words(sqlite),
            .data("sqliteIsAffectedByWALReset", status.isSQLiteAffectedByWALReset),
            Field("lockedMemory", status.lockedMemory.rawValue),
        ]
    }
}
