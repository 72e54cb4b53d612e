import ArgumentParser

struct WitnessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "What remembers the vault's newest state, apart from it.",
        discussion: """
            A vault that was put back to an older state sends refresh tokens that are spent already, and providers end \
            logins for that. Begin a witness with `vaultctl witness begin`. With --witness PATH (or TOKENVAULT_WITNESS) in \
            every process that uses the vault, an older state is recognised and refused, exit code 5. Let the file lie on another file system, or better on another \
            machine, so that both are not put back together.

            Instead of a file, a program of yours can keep the state, on another machine for instance: \
            --witness-command JSON (or TOKENVAULT_WITNESS_COMMAND). man tokenvault-vaultctl says what it must do.
            """,
        subcommands: [WitnessBeginCommand.self, WitnessShowCommand.self, WitnessAcceptCommand.self])
}
