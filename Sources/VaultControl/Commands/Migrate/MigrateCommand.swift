import ArgumentParser
import TokenVault
import VaultAdministration

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a vault from an older version up to date.",
        subcommands: [
            MigratePlanCommand.self, MigrateUpCommand.self, MigrateStatusCommand.self, MigrateDiscardCommand.self,
        ])
}

struct MigratePlanCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "List the migration steps that are missing.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let status = try MigrationView.status(VaultAccess(global, invocation))
        let missing = status.steps.filter { $0.appliedAt == nil }
        try MigrationView.emit(missing, of: status, invocation)
        invocation.note(missing.isEmpty ? "nothing to do" : "apply them: vaultctl migrate up")
    }
}

struct MigrateStatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "List all migration steps, and the copies made before them.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let status = try MigrationView.status(VaultAccess(global, invocation))
        try MigrationView.emit(status.steps, of: status, invocation)
        for snapshot in status.snapshots {
            invocation.note("copy from before a migration: \(snapshot.path), schema version \(snapshot.schemaVersion)")
        }
        if !status.snapshots.isEmpty {
            invocation.hint("these copies may still hold erased users; remove them: vaultctl migrate discard")
        }
    }
}

struct MigrateDiscardCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Remove the copies made before migrations.",
        discussion: """
            They hold everything that the vault held then, including users who have since been erased. Without this \
            command, the first process that opens the vault after 30 days removes them. No key is needed.
            """)

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let status = try MigrationView.status(access)
        if !status.snapshots.isEmpty {
            try confirmation.require("Remove \(Count.of(status.snapshots.count, "copy", plural: "copies"))", invocation)
        }
        let gone =
            status.snapshots.isEmpty
            ? [] : try Vault.discardMigrationSnapshots(at: access.path) { status.snapshots.contains($0) }
        try invocation.emit(
            OutputRecord([.data("discarded", gone.map(MigrationView.record))]),
            text: gone.map { Printable.shortened($0.path, to: 400) + "\n" }.joined())
        if gone.isEmpty { invocation.note("nothing to do: there are no copies") }
    }
}

struct MigrateUpCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Apply the migration steps that are missing.",
        discussion: "Stop the services that use the vault first. An interrupted migration resumes where it stopped.")

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let before = try MigrationView.status(access)
        guard !before.isUpToDate else {
            try MigrationView.emit([], of: before, invocation)
            invocation.note("nothing to do: the vault is at version \(before.schemaVersion)")
            return
        }
        // Without a terminal this is a script, whose command is confirmation enough.
        if invocation.console.inputIsTerminal {
            let missing = before.steps.count { $0.appliedAt == nil }
            try confirmation.require(
                "Apply \(Count.of(missing, "step")), from version \(before.schemaVersion) to \(before.newestVersion)",
                isFinal: false, invocation)
        }
        var reader = SecretReader(invocation.console)
        let key = try access.keySource(&reader, isNew: false)
        let (location, options) = (try access.location, try access.vaultOptions)
        let after = try await access.explaining(access.vaultPlace, access.keyInUse) {
            try await Vault.migrate(in: location, unlockedBy: key, options: options)
        }
        try MigrationView.emit(after.steps.filter { $0.version > before.schemaVersion }, of: after, invocation)
        invocation.note("the vault is at version \(after.schemaVersion)")
        if let snapshot = after.snapshots.last {
            invocation.note("copy from before, kept for 30 days: \(snapshot.path)")
        }
    }
}
