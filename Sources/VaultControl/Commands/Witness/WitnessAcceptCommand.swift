import ArgumentParser
import TokenVault

struct WitnessAcceptCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Take the vault for the newest that there is, and hold all its logins.",
        discussion: """
            For a vault that was restored from a backup on purpose, and for the one copy of two that is to be kept. No \
            refresh token of a login is sent from then on, because it may be spent already; access tokens are served \
            while they are good. A login that gets a new grant is no longer held. The audit log records it.
            """)

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let witness = try access.requireWitness()
        try confirmation.require(typing: "hold", to: "hold all logins of this vault", invocation)
        try await access.acceptForWitness()
        try invocation.emit([Field("accepted", witness.path)])
        invocation.note("the witness takes this vault for the newest; all its logins are held")
    }
}
