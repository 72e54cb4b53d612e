import ArgumentParser
import TokenVault
import VaultImport

struct ImportStatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show who owns the imported logins, and how much their sources still change.",
        discussion: """
            held: the source renews them. accepted: the vault does. contested: the vault owns them, and the source has renewed \
            them, too, so nothing is sent. missing: held, and the last reading did not find them. dead: cannot be renewed by anyone.
            """)

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let status = try await VaultAccess(global, invocation).open { try await $0.importStatus() }
        try invocation.emit("sources", status.map(ImportRecords.record), ImportRecords.statusHeadings)
        if status.isEmpty { return invocation.note("no login of this vault was imported") }
        var told: Set<String> = []
        for source in status where told.insert(source.source).inserted {
            guard let rate = source.changesPerHour else { continue }
            invocation.note("\(source.source): \(Count.of(Int(rate.rounded()), "change")) an hour between readings")
        }
    }
}
