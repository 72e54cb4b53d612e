import ArgumentParser
import TokenVault
import VaultAdministration

struct BackupListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the backups that were made of this vault, oldest first.",
        discussion: """
            The vault remembers each backup until it is removed by `maintain`, or forgotten with `backup forget`: a \
            file that is no longer where it was made may still exist elsewhere, with everything in it.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (entries, isOnServer) = try await VaultAccess(global, invocation).open { vault in
            (try await vault.backups(), try await vault.server() != nil)
        }
        try invocation.emit("backups", entries.map(BackupRecords.record), ["BACKUP", "MADE", "STATE", "PATH"])
        if isOnServer {
            invocation.hint("a vault on a server is backed up with its database: man tokenvault-postgresql")
        } else if entries.isEmpty {
            invocation.hint("make one: vaultctl backup create DIRECTORY")
        }
    }
}

struct BackupForgetCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Drop a backup from the list, once every copy of it is destroyed.",
        discussion: "Nothing is done to a file. `user erase` no longer names this backup.")

    @Argument(help: .init(stringLiteral: VaultAccess.backupHelp))
    var backup: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let forgotten = try await VaultAccess(global, invocation).open { vault in
            let known = try VaultAccess.find(backup, in: try await vault.backups())
            if BackupRecords.state(of: known).code == "here" {
                throw Failure(
                    .usage, code: "inUse", "the backup is still there: \(Printable.path(known.path))",
                    hints: ["destroy the file first"])
            }
            try confirmation.require("Forget backup \(known.id)", isFinal: false, invocation)
            try await vault.forgetBackup(known.id)
            return known.id
        }
        try invocation.emit([Field("forgotten", forgotten.description)])
    }
}
