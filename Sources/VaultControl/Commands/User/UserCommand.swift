import ArgumentParser

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "The vault's users.",
        subcommands: [
            UserListCommand.self, UserShowCommand.self, UserExportCommand.self, UserDisableCommand.self,
            UserEnableCommand.self,
            UserEraseCommand.self,
        ])
}
