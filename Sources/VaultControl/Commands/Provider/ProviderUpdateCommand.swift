import ArgumentParser
import OAuthClient
import TokenVault

struct ProviderUpdateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change a provider: endpoints, client, secrets or profile.",
        discussion: """
            vaultctl provider update acme --rediscover
            vaultctl provider update acme --client-secret-file new.secret

            Shows every field that changes, before and after, and asks for confirmation. Secrets are never shown. The \
            change takes effect at once in every process, and is recorded in the audit log.

            Replace a client secret in three steps: --second-client-secret-file adds the new one, \
            --promote-client-secret uses it with refresh tokens, too, and --drop-further-client-secrets forgets the \
            old one.

            Logins belong to one client at one server. A change that would send their refresh tokens elsewhere is \
            refused; --force makes it anyway.
            """)

    @Argument(help: "The provider's name.")
    var name: String

    @OptionGroup var tenant: TenantOption

    @OptionGroup var options: ProviderUpdateOptions

    @Flag(help: "Show what would change, and change nothing.")
    var dryRun = false

    @Flag(help: "Make the change even if logins can no longer be renewed.")
    var force = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        invocation.warnOfCommas(in: options.settings.scope)
        let access = VaultAccess(global, invocation)
        try await access.open { vault, reader in
            let provider = try await vault.provider(named: tenant.provider(name))
            let change = try await options.change(of: provider, in: vault, &reader, access)
            let preview = try await vault.previewProviderUpdate(named: tenant.provider(name), change)
            let changes = ProviderChanges(preview, namesSecrets: change.namesSecrets)
            guard !preview.changes.isEmpty else {
                try changes.emit(invocation, isWritten: false)
                return invocation.note("nothing to change: the provider already has these values")
            }
            try refuseOrphans(of: preview, changes, invocation)
            if provider.isRegistrationManaged, preview.current.clientID != provider.clientID {
                invocation.warn(
                    "the registration that the vault manages is that of the client \(provider.clientID.rawValue), "
                        + "and cannot be read with another client id")
            }
            guard !dryRun else {
                try changes.emit(invocation, isWritten: false)
                return invocation.note("dry run: nothing was changed")
            }
            let isAsked = !confirmation.isConfirmed && invocation.console.inputIsTerminal
            if isAsked { try invocation.console.write(changes.words(for: .error, invocation), to: .error) }
            try confirmation.require("Change provider \(Printable.shortened(name))", isFinal: false, invocation)
            let update = try await vault.changeProvider(
                named: tenant.provider(name), change, force: force, expecting: preview)
            if invocation.isJSON || !isAsked {
                try ProviderChanges(update, namesSecrets: change.namesSecrets).emit(invocation, isWritten: true)
            }
            invocation.note("changed provider \(Printable.shortened(name))")
        }
    }

    /// Reports the logins that the change would cut off, and stops unless that is intended.
    private func refuseOrphans(of update: ProviderUpdate, _ changes: ProviderChanges, _ invocation: Invocation) throws {
        let logins = update.orphanedLogins > 0 ? Count.of(update.orphanedLogins, "login") : nil
        let revocations =
            update.orphanedRevocations > 0 ? Count.of(update.orphanedRevocations, "pending revocation") : nil
        let isSendable = update.current.revocationEndpoint != nil
        // Those that would go to the wrong place.
        let misled = [logins, isSendable ? revocations : nil].compactMap(\.self)
        let problems = [
            misled.isEmpty
                ? nil
                : "the tokens of \(misled.joined(separator: " and ")) would be sent to another server or as another client",
            isSendable ? nil : revocations.map { "\($0) could no longer be sent" },
        ].compactMap(\.self)
        guard !problems.isEmpty else { return }
        let problem = problems.joined(separator: ", and ")
        guard force else {
            invocation.note(changes.words(for: .error, invocation).trimmedLineBreak)
            throw Failure(
                .inUse, problem,
                hints: [
                    revocations.map { _ in "send the revocations first: vaultctl outbox retry --all" },
                    logins.map { _ in "add it as a new provider: vaultctl provider add NAME" },
                    misled.isEmpty
                        ? "to give the revocations up, and leave the grants at the provider: add --force"
                        : "if it is the same server under another name, use --force",
                ].compactMap(\.self))
        }
        invocation.warn(problem)
    }
}

extension ProviderChange {
    fileprivate var namesSecrets: Bool {
        authentication.map { $0.isConfidential && $0.certificate == nil } == true || alternativeSecrets != nil
            || !addedSecrets.isEmpty || promotesNextSecret
    }
}

extension String {
    fileprivate var trimmedLineBreak: String { hasSuffix("\n") ? String(dropLast()) : self }
}
