import ArgumentParser

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "The users' logins, each a grant from one provider.",
        subcommands: [
            LoginBeginCommand.self, LoginCompleteCommand.self, LoginOpenCommand.self, LoginDeviceCommand.self,
            LoginAddCommand.self, LoginListCommand.self, LoginShowCommand.self, LoginUpdateCommand.self,
            LoginRefreshCommand.self, LoginTakeOverCommand.self, LoginReviveCommand.self, LoginSalvageCommand.self,
            LoginRevokeCommand.self, LoginRemoveCommand.self, LoginTerminateCommand.self, LoginEndCommand.self,
        ])
}
