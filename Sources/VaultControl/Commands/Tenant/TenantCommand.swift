import ArgumentParser
import TokenVault
import VaultAdministration

struct TenantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant", abstract: "The vault's tenants.",
        subcommands: [TenantListCommand.self, TenantEraseCommand.self])
}

struct TenantListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tenants, and how much each has.",
        discussion: """
            A tenant is there for as long as it has a user or a provider. vaultctl login list --tenant NAME, user list \
            --tenant NAME and the provider commands with --tenant NAME show what is in one.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let tenants = try await VaultAccess(global, invocation).open { try await $0.tenants() }
        var listing = Listing("tenants", ["TENANT", "USERS", "LOGINS", "PROVIDERS"], invocation)
        try await listing.appendAll { (_: Int?) in (tenants.map(Self.record), nil) }
        if tenants.isEmpty { invocation.hint("there is no tenant; services make them: users.scoped(to: tenant)") }
    }

    private static func record(_ tenant: TenantSummary) -> OutputRecord {
        [
            Field("tenant", tenant.tenant.name).column("TENANT"), Field("users", tenant.users).column("USERS"),
            Field("logins", tenant.logins).column("LOGINS"),
            Field("providers", tenant.providers).column("PROVIDERS"),
        ]
    }
}

struct TenantEraseCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erase all users of a tenant, and remove its providers.",
        discussion: """
            Each user is erased as by vaultctl user erase: their keys are destroyed, and their grants revoked. Backups \
            hold what they hold: vaultctl user erase --dry-run names those of one user.

            A provider stays for as long as revocations wait for it. Exit code 3 means that something is left: run the \
            command again later.
            """)

    @Argument(help: .init("The tenant's name.", valueName: "tenant"))
    var name: TenantName

    @Flag(help: "Say what would be erased, and change nothing.")
    var dryRun = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let tenant = name.tenant
        if dryRun { return try await plan(tenant, invocation) }
        let erasure = try await VaultAccess(global, invocation).manage { users in
            let summary = try await Self.summary(of: tenant, in: users.vault)
            await RevocationView.warnOfOriginal(users.vault, invocation)
            try confirmation.require(
                "Erase tenant \(tenant.name) with \(Count.of(summary.users, "user")) and "
                    + Count.of(summary.logins, "login"), invocation)
            return try await users.erase(tenant)
        }
        try invocation.emit(
            OutputRecord([
                Field("tenant", tenant.name), Field("users", erasure.users), Field("incomplete", erasure.incomplete),
                Field("remainingProviders", erasure.remainingProviders)
                    .words(
                        erasure.remainingProviders.isEmpty ? nil : erasure.remainingProviders.joined(separator: ", ")),
            ]))
        invocation.note("erased tenant \(tenant.name)")
        guard erasure.isComplete, erasure.incomplete == 0 else {
            invocation.hint("see what is pending: vaultctl outbox list; then run this again")
            throw ExitRequest(status: .partlyDone)
        }
    }

    private func plan(_ tenant: Tenant, _ invocation: Invocation) async throws {
        let (summary, backups) = try await VaultAccess(global, invocation).open { vault in
            (try await Self.summary(of: tenant, in: vault), try await vault.backups().compactMap(\.backup))
        }
        try invocation.emit(
            OutputRecord([
                Field("tenant", tenant.name), Field("users", summary.users), Field("logins", summary.logins),
                Field("providers", summary.providers), .data("isDryRun", true),
                Field("backups", backups.map(BackupRecords.record)).words(backups.count).label("backups of the vault"),
            ]))
        invocation.note("nothing was erased")
        if !backups.isEmpty {
            invocation.hint("backups may hold its users; destroy every copy, then: vaultctl backup forget BACKUP")
        }
    }

    private static func summary(of tenant: Tenant, in vault: Vault) async throws -> TenantSummary {
        let all = try await vault.tenants()
        guard let summary = all.first(where: { $0.tenant == tenant }) else {
            throw Failure.unknownTenant(tenant, among: all)
        }
        return summary
    }
}
