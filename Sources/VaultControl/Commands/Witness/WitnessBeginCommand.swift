import ArgumentParser
import TokenVault

struct WitnessBeginCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Give the vault a witness: write its first note.",
        discussion: """
            vaultctl witness begin --witness /mnt/other-disk/app.witness

            From then on, name the witness in every process that uses the vault. A witness without a note refuses the vault, \
            because its disk may not be mounted. If it has a note already, nothing is changed. A vault that has had a \
            witness is refused, exit code 5: move its note to the new place, or run `vaultctl witness accept`.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let witness = try access.requireWitness()
        try await access.beginWitness()
        try invocation.emit([Field("witness", WitnessView.name(witness))])
        invocation.note("the witness has its first note; name it wherever the vault is used")
    }
}
