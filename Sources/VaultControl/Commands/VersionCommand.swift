import ArgumentParser
import CBuild
import Platform
import TokenVault
import VaultAdministration

struct VersionCommand: ResultCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the versions of vaultctl and of its components.",
        discussion: """
            Needs no vault. The schema versions are those of the vaults that it opens; older ones after: \
            vaultctl migrate up
            """)

    /// Scripts and aliases give the options of all commands to this one, too.
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    var outputChoice: any OutputChoice { global }

    func run(_ invocation: Invocation) async throws {
        let schema = Vault.schemaVersions
        try invocation.emit([
            Field("version", TokenVaultVersion.current).label("vaultctl"),
            Field("commit", Self.commit).orWords("unknown"),
            Field("swiftVersion", _SwiftStdlibVersion.current.description).label("Swift"),
            Field("sqliteVersion", Vault.sqliteVersion).label("SQLite"),
            Field("libsodiumVersion", Vault.libsodiumVersion).label("libsodium"),
            Field("oldestSchemaVersion", schema.lowerBound).words(JSONValue.null),
            Field("schemaVersion", schema.upperBound).label("schema")
                .words("\(schema.upperBound); migrates from \(schema.lowerBound)"),
            Field("platform", Machine.platform),
        ])
    }

    /// The commit given to the build; nil if there was none.
    private static var commit: String? {
        unsafe build_commit().map { unsafe String(cString: $0) }
    }
}
