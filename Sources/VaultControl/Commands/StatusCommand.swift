import ArgumentParser
import TokenVault
import VaultAdministration
import VaultCrypto
import VaultStorage

struct StatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the vault contains and the state of its logins.",
        discussion: """
            The states of logins are sealed: counting them reads every login. In a vault with more than
            \(mostReadUnasked) logins that is done only with --all or --provider; --brief never does it.
            """)

    /// They take about a second to read.
    static let mostReadUnasked = 50_000

    @Flag(help: "Show only what is known without reading every login.")
    var brief = false

    @Flag(help: "Read every login, however many there are.")
    var all = false

    @Option(name: .shortAndLong, help: .init("Count only the logins at this provider.", valueName: "name"))
    var provider: String?

    @OptionGroup var tenant: TenantOption

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard !brief || provider == nil && !all else {
            throw ValidationError("--brief cannot be combined with --provider or --all")
        }
    }

    func run(_ invocation: Invocation) async throws {
        guard tenant.tenant == nil || provider != nil else {
            throw Failure.usage(
                "--tenant needs --provider",
                hint: "all logins of a tenant: vaultctl login list --tenant NAME --count")
        }
        let access = VaultAccess(global, invocation)
        let path = try access.location.description
        let progress = CountingProgress("counting logins", advice: "; --brief skips that", invocation)
        let (status, survey, readOnly) = try await access.open { vault in
            let status = try await vault.status()
            guard readsLogins(status.logins) else { return (status, nil as VaultSurvey?, vault.readOnlyReason) }
            defer { progress.finish() }
            let survey = try await vault.survey(provider: provider.map { tenant.provider($0) }) {
                progress.update(done: $0, total: $1)
            }
            return (status, survey, vault.readOnlyReason)
        }
        let isReadOnly = readOnly != nil
        var record = record(path, status)
        record += [
            Field("isReadOnly", isReadOnly).label("opened").words(isReadOnly ? "read-only" : nil),
            Field("configuration", invocation.configuration?.path),
        ]
        if let survey { record += SurveyView.record(survey) }
        try invocation.emit(
            record, text: invocation.text(record) + (survey.map { SurveyView.text($0, invocation) } ?? ""))
        if survey == nil, !brief {
            invocation.note("\(status.logins) logins are many to read: --all counts their states, which takes a while")
        }
        if let survey, survey.damaged > 0 { invocation.advise("see the damaged logins: vaultctl damage list") }
        if let survey, survey.groups.contains(where: { $0.held > 0 }) {
            invocation.advise("why logins are held, and at what risk they can be accepted: vaultctl restore status")
        }
        if let readOnly { invocation.note(readOnly) }
        if status.lockedMemory != .full {
            invocation.warn("keys may be written to swap: raise the limit on locked memory (ulimit -l)")
        }
    }

    func readsLogins(_ count: Int) -> Bool {
        !brief && (all || provider != nil || count <= Self.mostReadUnasked)
    }

    private func record(_ path: String, _ status: StoreStatistics) -> OutputRecord {
        let engine =
            status.engine.version
            + (status.engine.canLoseCommits
                ? " (has a bug that can lose commits at a checkpoint; the vault's own checkpoints avoid it)" : "")
        return [
            Field("vault", path), Field("id", status.vaultID), Field("schemaVersion", status.engine.schemaVersion),
            Field("users", status.users), Field("logins", status.logins), Field("providers", status.providers),
            Field("keySlots", status.keySlots), Field("openRenewals", status.openIntents),
            Field("pendingRevocations", status.pendingRevocations), Field("auditEntries", status.auditRows),
            Field("lastBackupAt", status.lastBackupAt?.date).label("last backup").orWords("none"),
            .data("engine", status.engine.kind.rawValue),
            Field("engineVersion", status.engine.version).label(status.engine.kind.rawValue).words(engine),
            .data("sqliteIsAffectedByWALReset", status.engine.canLoseCommits),
            Field("lockedMemory", status.lockedMemory.rawValue).words(Self.words(for: status.lockedMemory)),
        ]
    }

    /// Not the word that programs get: `full` reads as if none were left.
    static func words(for memory: LockedMemoryState) -> String {
        switch memory {
        case .full: "all keys are kept out of swap"
        case .partial: "some keys may be written to swap"
        case .none: "keys may be written to swap"
        }
    }
}
