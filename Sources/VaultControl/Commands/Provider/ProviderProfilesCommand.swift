import ArgumentParser
import FoundationEssentials
import OAuthClient

struct ProviderProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "The provider profiles: list, show, check or convert them.",
        subcommands: [ProfilesListCommand.self, ProfilesConvertCommand.self],
        defaultSubcommand: ProfilesListCommand.self)
}

struct ProfilesListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the provider profiles, show one, or check those in a directory.",
        discussion: """
            vaultctl provider profiles
            vaultctl provider profiles shopify
            vaultctl provider profiles --dir ./profiles

            A profile describes the particulars of one provider: man tokenvault-adding-a-provider. No vault is needed. With \
            --dir, every file whose name ends in .json is checked; the exit code is 3 if any of them cannot be used.
            """)

    @Argument(help: "The profile to show: what is known of its provider, what is not, and the sources.")
    var name: String?

    @Option(help: .init("A directory with profiles of your own.", valueName: "directory"), completion: .directory)
    var dir: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private struct Row {
        let file: String?
        let name: String
        let title: String
        let read: String
        let failure: String?

        var record: OutputRecord {
            [
                Field("name", name).column("NAME"), Field("title", title).column("TITLE"),
                Field("read", read).column("READ"), .data("file", file), Field("problem", failure).column("PROBLEM"),
            ]
        }
    }

    func run(_ invocation: Invocation) async throws {
        if let name {
            guard dir == nil else { throw Failure.usage("--dir and the name of a profile cannot be combined") }
            return try invocation.emit(
                ProfileView.record(try ChosenProfile.named(name, after: "vaultctl provider profiles")))
        }
        let rows = try dir.map { try Self.rows(in: $0) } ?? ProviderProfile.shipped.map { Self.row(nil, $0) }
        try invocation.emit("profiles", rows.map(\.record), ["NAME", "TITLE", "READ", "PROBLEM"])
        if rows.isEmpty, let dir { invocation.note("there is no profile (a file *.json) in \(Printable.path(dir))") }
        let failures = rows.filter { $0.failure != nil }
        guard failures.isEmpty else {
            throw invocation.end(
                afterOutput: Failure(
                    .partlyDone, "\(failures.count) of \(Count.of(rows.count, "profile")) cannot be used",
                    hints: ["man tokenvault-adding-a-provider explains the fields"]))
        }
    }

    private static func row(_ file: String?, _ profile: ProviderProfile) -> Row {
        Row(
            file: file, name: profile.name, title: profile.title, read: profile.sources.map(\.read).max() ?? "",
            failure: nil)
    }

    private static func rows(in directory: String) throws -> [Row] {
        let names = try InputDirectory.names(
            in: directory, "--dir", hint: "name a directory with profiles, NAME.json each")
        return names.filter { $0.hasSuffix(".json") }.sorted().map { name in
            do {
                let profile = try ChosenProfile.read(directory + "/" + name, from: "--dir").profile
                return row(name, profile)
            } catch {
                let failure = (error as? Failure)?.message ?? "cannot be read"
                return Row(file: name, name: name, title: "", read: "", failure: failure)
            }
        }
    }
}
