import ArgumentParser
import TokenVault

struct KeyListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the key slots.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let slots = try await VaultAccess(global, invocation).open { try $0.keySlots() }
        var table = Table("SLOT", "KIND", "LABEL", "MADE")
        for slot in slots {
            table.append(slot.id, slot.kind.rawValue, slot.label, Instant.relative(slot.createdAt, now: invocation.now))
        }
        try invocation.emit(json: .object([("keySlots", .array(slots.map(KeyFacts.json)))]), table: table)
    }
}
