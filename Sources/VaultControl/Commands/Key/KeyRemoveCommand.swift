import ArgumentParser
import TokenVault

struct KeyRemoveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Let a key open the vault no longer.",
        discussion: "Whoever has that key and an old copy of the vault can still open the copy.")

    @Argument(help: "The slot's id, from vaultctl key list.")
    var slot: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await VaultAccess(global, invocation).open { vault in
            guard let found = try vault.keySlots().first(where: { $0.id == slot }) else {
                throw Failure(
                    .notFound, code: "unknownKeySlot", "the vault has no such key slot",
                    hints: ["vaultctl key list shows all key slots"])
            }
            try confirmation.require(
                "Remove key slot \(found.id) (\(Printable.shortened(found.label)))", invocation)
            try await vault.removeKeySlot(id: slot)
        }
        try invocation.emit(json: .object([("removed", .string(slot))]), text: "")
        invocation.note("removed key slot \(Printable.shortened(slot))")
    }
}
