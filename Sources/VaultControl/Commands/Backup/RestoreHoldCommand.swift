import ArgumentParser
import TokenVault
import VaultAdministration

struct RestoreHoldCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold all logins, after a restore that the vault cannot notice by itself.",
        discussion: """
            A server that is restored from a base backup, a dump or a snapshot can look like one that was only \
            restarted. Its refresh tokens may have been spent since, and sending them again would end the logins. So stop \
            the services, restore the database, run this, and start them.

            Access tokens are served while they are valid, and a new log-in is never held. Release logins with \
            `vaultctl restore accept`. A copy of a vault for other machines, such as a staging system, needs this too: its \
            logins belong to the original. The hold keeps their refresh tokens from being sent, and no revocation: a login \
            that ends in the copy by `vaultctl login revoke` or `user erase` ends for the original, too.
            """)

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try confirmation.require(typing: "hold", to: "hold all logins of this vault", invocation)
        let held = try await VaultAccess(global, invocation).manage { users in
            try await users.vault.holdAllLogins()
            return try await users.vault.heldLogins()
        }
        try invocation.emit("providers", held.map(BackupRecords.record), BackupRecords.heldHeadings)
        invocation.note("all logins are held: no refresh token is sent")
        invocation.hint("release them, a few at first: vaultctl restore accept --provider NAME --probe 3")
    }
}
