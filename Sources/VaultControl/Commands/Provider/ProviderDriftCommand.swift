import ArgumentParser
import FoundationEssentials
import OAuthClient
import TokenVault

struct ProviderDriftCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Find rules of providers that seem to have changed.",
        discussion: """
            vaultctl provider drift
            vaultctl provider drift acme --accept

            The audit log records what each reply shows of a provider's rules: whether refresh tokens are replaced, how \
            long tokens live, when logins end, and which errors come. This compares the last replies with the profile, \
            and with the replies before. Each finding rests on several logins. A service or vaultctl maintain looks every \
            hour and reports each finding once, as the event providerDrifted.

            Nothing changes by itself. --accept makes the profile say what the replies show: the changed profile, with \
            the date and 'observed' as its source, is sealed with the provider. A finding without a patch needs a \
            person: see man tokenvault-adding-a-provider. Changing the profile in any way ends the findings.

            Sends nothing. The exit code is 3 if there is a finding.
            """)

    @Argument(help: "The provider's name. Without it: all.")
    var name: String?

    @OptionGroup var tenant: TenantOption

    @Flag(help: "Make the profile say what the replies show.")
    var accept = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        if accept, name == nil { throw ValidationError("--accept needs the name of one provider") }
        if name == nil, tenant.tenant != nil { throw ValidationError("--tenant needs the name of one provider") }
        if !accept, confirmation.isConfirmed { throw ValidationError("--yes needs --accept") }
    }

    func run(_ invocation: Invocation) async throws {
        let name = name.map { tenant.provider($0) }
        try await VaultAccess(global, invocation).open { vault in
            let drifts = try await vault.providerDrift(of: name)
            if accept, let drift = drifts.first { return try await accept(drift, in: vault, invocation) }
            try Self.emit(drifts.flatMap(Self.records), invocation)
            guard drifts.contains(where: { !$0.isEmpty }) else {
                let replies = drifts.reduce(0) { $0 + $1.replies }
                return invocation.note(
                    "no finding, by \(Count.of(replies, "recorded reply", plural: "recorded replies"))")
            }
            throw ExitRequest(status: .partlyDone)
        }
    }

    private func accept(_ drift: ProviderDrift, in vault: Vault, _ invocation: Invocation) async throws {
        let name = Printable.shortened(drift.provider)
        guard !drift.isEmpty else {
            try Self.emit([], invocation)
            return invocation.note(
                "nothing to accept: no finding for provider \(name), by "
                    + Count.of(drift.replies, "recorded reply", plural: "recorded replies"))
        }
        let change = try await vault.acceptance(of: drift)
        let preview = try await vault.previewProviderUpdate(named: drift.provider, change)
        let edits = drift.findings.flatMap(\.edits)
        if !confirmation.isConfirmed, invocation.console.inputIsTerminal {
            for finding in drift.findings { invocation.note(finding.says) }
            for report in drift.earlier { invocation.note(report.says) }
            invocation.note(
                edits.mergePatch.map { "the patch of the profile is \($0)" }
                    ?? "the profile gets a source and no other change")
        }
        try confirmation.require("Change the profile of provider \(name)", isFinal: false, invocation)
        let update = try await vault.changeProvider(named: drift.provider, change, expecting: preview)
        try invocation.emit(
            OutputRecord([
                .data("provider", ProviderView.record(update.current)), .data("findings", Self.records(drift)),
            ]), text: "")
        invocation.note("changed the profile of provider \(name)")
    }

    // MARK: Output

    private static func emit(_ records: [OutputRecord], _ invocation: Invocation) throws {
        try invocation.emit(
            OutputRecord([.data("findings", records)]), text: records.map(invocation.text).joined(separator: "\n"))
    }

    private static func records(_ drift: ProviderDrift) -> [OutputRecord] {
        drift.findings.map { finding in
            [
                Field("provider", drift.provider), Field("finding", finding.kind.rawValue), Field("says", finding.says),
                Field("since", Date(timeIntervalSince1970: finding.since / .seconds(1))), .data("isCurrent", true),
                .data("replies", finding.replies), .data("logins", finding.logins),
                .data("edits", finding.edits.map(record)), .line("patch", finding.edits.mergePatch ?? "none"),
            ]
        }
            + drift.earlier.map { report in
                [
                    Field("provider", drift.provider), Field("finding", report.kind.rawValue),
                    Field("says", report.says), Field("reportedAt", report.at), .data("isCurrent", false),
                    .line("patch", "none"),
                ]
            }
    }

    private static func record(_ edit: ProfileEdit) -> OutputRecord {
        [.data("section", edit.section), .data("field", edit.field), .data("value", value(edit))]
    }

    private static func value(_ edit: ProfileEdit) -> JSONValue {
        switch edit.value {
        case .word(let word): .string(word)
        case .seconds(let time): .integer(Int(time.components.seconds))
        }
    }
}
