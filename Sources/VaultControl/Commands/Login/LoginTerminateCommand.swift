import ArgumentParser
import TokenVault

struct LoginTerminateCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate",
        abstract: "End a login for good, and keep it with the reason.",
        discussion: """
            vaultctl login terminate LOGIN --reason globalBan

            Its tokens are destroyed here and revoked at its provider, as with vaultctl login revoke. The login stays \
            in the lists with its reason. Exit code 3 means that the provider has not confirmed yet.
            """)

    @OptionGroup var selection: LoginSelection

    @Option(
        help: .init(
            "Why: \(ReasonOption.choices).", valueName: "reason"))
    var reason: ReasonOption

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let reason = reason.reason
        let (name, report) = try await VaultAccess(global, invocation).manage { users in
            try await TenantLookalike.refuseTwin(endingLoginsOf: selection.user, selection.tenant, in: users.vault)
            let login = try await selection.find(in: users.vault)
            if case .terminated(let former) = login.state {
                guard former != reason else {
                    throw Failure(.loginDead, "the login is terminated as \(former) already: nothing was changed")
                }
                invocation.warn("the login is terminated as \(former) already; this replaces the reason")
            }
            await RevocationView.warnOfOriginal(users.vault, invocation)
            try confirmation.require("Terminate \(LoginView.name(login)) as \(reason)", invocation)
            return (LoginView.name(login), try await users.terminate(.login(login.id), reason: reason))
        }
        try RevocationView.emit(report, done: "terminated \(name) as \(reason)", invocation)
    }
}
