import ArgumentParser
import FoundationEssentials
import OAuthClient
import Platform
import ProviderCatalogue

struct ProfilesConvertCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Make provider profiles of another system's catalogue.",
        discussion: """
            vaultctl provider profiles convert --from nango providers.yaml --to ./profiles

            FILE is your copy of Nango's packages/providers/providers.yaml. It knows endpoints and parameters, and \
            nothing of rotation, lifetimes or errors: each profile names in notVerified what nobody has proven. Prefer \
            a profile that comes with TokenVault. Nothing is overwritten. The exit code is 3 if an entry was not \
            converted; each says why.
            """)

    enum Catalogue: String, ExpressibleByArgument, CaseIterable {
        case nango
    }

    @Option(help: .init("The system that the catalogue comes from.", valueName: "system"))
    var from: Catalogue

    @Argument(help: "The catalogue.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(
        help: .init("The directory for the profiles, NAME.json each.", valueName: "directory"), completion: .directory)
    var to: String

    @Option(help: .init("When the catalogue was read, such as 2026-01-31 (default: today).", valueName: "day"))
    var read: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private struct Row {
        let name: String
        var file: String?
        var reason: String?

        var record: OutputRecord {
            [
                Field("name", name).column("NAME"), .data("file", file),
                Field("reason", reason).column("OUTCOME", reason ?? "converted"),
            ]
        }
    }

    func run(_ invocation: Invocation) async throws {
        let day = try day(now: invocation.now)
        let providers = try providers()
        _ = try InputDirectory.names(
            in: to, "--to",
            hint: to == "-"
                ? "profiles are not written to standard output: --to ./profiles"
                : "make the directory first: mkdir \(Printable.path(to))",
            status: .machine)
        var rows: [Row] = []
        for provider in providers { rows.append(try convert(provider, day)) }
        try invocation.emit("profiles", rows.map(\.record), ["NAME", "OUTCOME"])
        let written = rows.filter { $0.file != nil }
        let shipped = written.filter { row in ProviderProfile.shipped.contains { $0.name == row.name } }
        if !shipped.isEmpty {
            invocation.note(
                "\(shipped.count) of them also come with TokenVault, which knows more about them: "
                    + shipped.map(\.name).sorted().joined(separator: ", "))
        }
        guard written.count == rows.count else {
            throw invocation.end(
                afterOutput: Failure(
                    .partlyDone,
                    "\(rows.count - written.count) of \(Count.of(rows.count, "entry", plural: "entries")) "
                        + (rows.count - written.count == 1 ? "was not converted" : "were not converted")))
        }
    }

    private func day(now: Date) throws -> String {
        let milliseconds = Int64(now.timeIntervalSince1970 * 1_000)
        let today = String((CivilTime.text(milliseconds: milliseconds) ?? "1970-01-01").prefix(10))
        guard let read else { return today }
        guard ISODate.isDate(read) else { throw Failure.usage("--read expects a day, such as 2026-01-31") }
        guard read <= today else {
            throw Failure.usage(
                "--read \(read) is in the future", hint: "give the day of your copy; for today, leave --read out")
        }
        guard read >= "2012-10-01" else {
            throw Failure.usage("--read \(read) is older than OAuth 2.0", hint: "give the day of your copy")
        }
        return read
    }

    private func providers() throws -> [NangoProvider] {
        let bytes = try InputFile.read(file, "Catalogue", from: "FILE", atMost: CatalogueText.maximumBytes)
        do throws(CatalogueError) {
            return try NangoProvider.all(in: bytes)
        } catch {
            throw Failure.usage(
                "\(Printable.path(file)) is not a catalogue that can be read: \(error)",
                hint: "name a copy of Nango's packages/providers/providers.yaml")
        }
    }

    private func convert(_ provider: NangoProvider, _ day: String) throws -> Row {
        var row = Row(name: provider.name)
        let bytes: [UInt8]
        do throws(NangoObstacle) {
            bytes = Array(try NangoConversion.profile(of: provider, read: day).utf8)
        } catch {
            row.reason = error.description
            return row
        }
        let name = provider.name + ".json"
        // A file that no command accepts would be worse than none.
        do throws(ProfileError) {
            _ = try ProviderProfile(parsing: bytes, file: name)
        } catch {
            row.reason = "it would not be a profile: \(error)"
            return row
        }
        do throws(SystemError) {
            let file = try NewFileStream(to + "/" + name)
            try file.write(bytes)
            try file.finish()
            row.file = name
        } catch {
            guard error == .exists else {
                throw Failure(
                    .machine, "\(Printable.path(to + "/" + name)) cannot be written: \(error.text)",
                    hints: ["files that were written before are complete; run the command again with another --to"])
            }
            row.reason = "there is a file \(name) already; nothing is overwritten"
        }
        return row
    }
}
