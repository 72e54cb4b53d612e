import ArgumentParser
import TokenVault

struct KeyListCommand: VaultCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the key slots.")

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let slots = try await VaultAccess(global, invocation).open { try await $0.keySlots() }
        try invocation.emit("keySlots", slots.map(KeyFacts.sheet), ["SLOT", "KIND", "LABEL", "CREATED"])
    }
}
