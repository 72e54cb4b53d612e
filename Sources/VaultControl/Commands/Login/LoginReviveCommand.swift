import ArgumentParser
import TokenVault
import VaultAdministration

struct LoginReviveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "revive",
        abstract: "Revive a login that was given up although its provider never ended it.",
        discussion: """
            vaultctl login revive LOGIN

            A login ends as unclassifiedRejection or keyMismatch when its provider has refused only this login for a \
            day without saying that its grant is over. Its refresh token and key are kept. Remove the cause, such as a \
            firewall rule, and revive it: the next renewal uses them again.

            A login that waits for its user or an administrator to act can be revived once they have.

            This sends nothing. If the provider still refuses, the login ends again in the same way. A login whose \
            provider ended the grant cannot be revived: its refresh token is gone, and the user must log in again.
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let login = try await VaultAccess(global, invocation).manage { users in
            let login = try await selection.find(in: users.vault)
            return try await users.revive(.login(login.id))
        }
        let diagnosis = try await VaultAccess(global, invocation).open { try await $0.diagnosis(of: login.id) }
        try invocation.emit(LoginView.record(diagnosis, now: invocation.now))
        invocation.hint("see whether it works: vaultctl login refresh \(login.id)")
    }
}
