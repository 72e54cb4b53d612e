import ArgumentParser
import TokenVault
import VaultAdministration

struct WitnessShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Check the vault against its witness, and show what the witness has seen.",
        discussion: """
            Changes neither. Exit code 5 if the witness has seen a newer state of the vault, or another one, or has no note.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let witness = try access.requireWitness()
        let (note, device) = try await access.openUnwitnessed { vault in
            (try await vault.state(seenBy: witness), WitnessView.sharesDevice(witness, with: vault))
        }
        try invocation.emit(
            [
                Field("witness", WitnessView.name(witness)), Field("sequence", Int(note.sequence)).label("last row"),
                Field("link", note.link), Field("incarnation", Int(note.incarnation)),
                .data("sharesDevice", device),
            ])
        if device { invocation.warn(WitnessView.sharedDevice) }
    }
}
