import ArgumentParser

struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vaultctl",
        abstract: "Manage a token vault: its providers, logins, users and keys.",
        discussion: """
            Specify the vault and its key with --vault and --key-file, or set TOKENVAULT_VAULT and \
            TOKENVAULT_KEY_FILE, or write them into a configuration file. Secrets are never arguments: they come from a prompt, standard input, a file or a \
            file descriptor.

            Exit codes: 0 ok, 1 usage, 2 not found, 3 partly done, 4 tampering or damage, 5 rollback suspected or \
            held, 6 busy, 7 key, 8 login dead, 9 provider or network, 10 this machine (disk, permissions).

            vaultctl --version shows the version.
            """,
        subcommands: [
            InitCommand.self, StatusCommand.self, DoctorCommand.self, VerifyCommand.self, MigrateCommand.self,
            ProviderCommand.self,
            LoginCommand.self, TokenCommand.self, RequestCommand.self, UserCommand.self, TenantCommand.self,
            KeyCommand.self,
            OutboxCommand.self, DamageCommand.self, AuditCommand.self, WitnessCommand.self, EventsCommand.self,
            ReportCommand.self,
            BackupCommand.self, RestoreCommand.self, ImportCommand.self, ExportCommand.self, MoveCommand.self,
            MaintainCommand.self, ServeCommand.self,
            VersionCommand.self,
        ]
    )
}
