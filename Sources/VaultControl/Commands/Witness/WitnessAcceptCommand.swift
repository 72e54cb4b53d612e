import ArgumentParser
import TokenVault

struct WitnessAcceptCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Take the vault for the newest that there is, and hold all its logins.",
        discussion: """
            For the one copy of two that is to be kept, and for a vault that was put back by hand. No refresh token of a \
            login is sent from then on, because it may be spent already; access tokens are served while they are good. \
            Release logins with `vaultctl restore accept`; a new log-in is never held. The audit log records it.

            A vault that `vaultctl backup restore` has made holds its logins already: no others are held. Where the witness \
            agrees with the vault, there is nothing to accept; `vaultctl restore hold` holds all logins without it. The note \
            of another vault is not replaced.
            """)

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let witness = try access.requireWitness()
        if let path = global.witness, FileKind(path) == nil {
            invocation.warn("there is no note at \(Printable.path(path)): a witness begins there")
        }
        try confirmation.require(typing: "hold", to: "hold all logins of this vault", invocation)
        let holdsAll = try await access.acceptForWitness()
        try invocation.emit([Field("accepted", WitnessView.name(witness)), .data("holdsAllLogins", holdsAll)])
        invocation.note(
            "the witness takes this vault for the newest; "
                + (holdsAll ? "all its logins are held" : "the restore's logins are held"))
        invocation.hint("see which logins are held: vaultctl restore status")
    }
}
