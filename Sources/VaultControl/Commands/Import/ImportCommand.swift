import ArgumentParser

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over the logins of another system.",
        discussion: """
            Imported logins belong to the system that they come from until you accept them: the vault serves their access \
            tokens and renews none. The way of a cut-over, step by step: man tokenvault-cut-over

            vaultctl import run SOURCE --dry-run    say what each row of the source is; change nothing
            vaultctl import run SOURCE              take the logins over; again and again, to follow the source
            vaultctl import compare SOURCE          whether the vault has what the source has
            vaultctl import run SOURCE --final      after the other system was stopped: prove that nothing changes there
            vaultctl import accept NAME --probe 10  renew ten of them here, and stop
            vaultctl import accept NAME             renew all of them here from now on
            vaultctl import check SOURCE            whether the other system has renewed one nevertheless
            """,
        subcommands: [
            ImportRunCommand.self, ImportStatusCommand.self, ImportAcceptCommand.self, ImportCheckCommand.self,
            ImportCompareCommand.self,
        ])
}
