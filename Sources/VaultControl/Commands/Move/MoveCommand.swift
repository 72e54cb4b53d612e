import ArgumentParser

struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move everything to another vault: from a file to a server, or back.",
        discussion: """
            Providers, users and logins keep their names, so apps find their logins in the new vault. The vault that they \
            come from is held for good.

            vaultctl init --vault TARGET --key-file new.key              make the new vault, with keys of its own
            vaultctl move run TARGET --target-key-file new.key --dry-run  say what would be moved; change nothing
            vaultctl move run TARGET --target-key-file new.key           move it; after an interruption, run it again
            vaultctl move status                                         how far the move of this vault is
            vaultctl move abort TARGET --target-key-file new.key         give up a move that is not complete
            """,
        subcommands: [MoveRunCommand.self, MoveStatusCommand.self, MoveAbortCommand.self])
}
