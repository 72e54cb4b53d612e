import ArgumentParser

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Make, check and restore backups of the vault.",
        subcommands: [
            BackupCreateCommand.self, BackupVerifyCommand.self, BackupListCommand.self, BackupRestoreCommand.self,
            BackupForgetCommand.self,
        ])
}
