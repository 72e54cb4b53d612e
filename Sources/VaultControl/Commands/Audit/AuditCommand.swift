import ArgumentParser

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "What has happened in the vault: list, verify, export and prune the audit log.",
        discussion: """
            Every change of the vault is a row of its audit log, committed with the change. Each row is tied to the one \
            before it by a keyed link: without the vault's key, none can be changed, removed or \
            added unnoticed. No row \
            holds a token, a key or a user id; users are named by random handles.
            """,
        subcommands: [
            AuditListCommand.self, AuditVerifyCommand.self, AuditExportCommand.self, AuditPruneCommand.self,
        ])
}
