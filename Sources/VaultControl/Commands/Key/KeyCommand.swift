import ArgumentParser
import TokenVault

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "The keys that open the vault; any one of them is enough.",
        subcommands: [
            KeyListCommand.self, KeyAddCommand.self, KeyTestCommand.self, KeyRemoveCommand.self,
            KeyRekeyCommand.self, KeyRotateCommand.self, KeyPinCommand.self,
        ])
}

extension VaultAccess {
    /// The slot that an argument names.
    static func keySlot(_ text: String, of vault: Vault) async throws -> KeySlot {
        guard let id = KeySlotID(text) else {
            throw Failure.usage(
                "\(Printable.named(text)) is not a key slot id, which is 26 letters and digits",
                hint: "list all key slots: vaultctl key list")
        }
        guard let found = try await vault.keySlots().first(where: { $0.id == id }) else {
            throw Failure(.unknownKeySlot, "the vault has no such key slot")
        }
        return found
    }
}
