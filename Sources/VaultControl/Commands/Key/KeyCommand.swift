import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

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
    /// The slot that an argument names: by its id, by the beginning of its id, or by its label.
    static func keySlot(_ text: String, of vault: Vault) async throws -> KeySlot {
        do {
            return try ShortID.find(
                text, among: try await vault.keySlots(), noun: "key slot", list: "vaultctl key list",
                missing: .unknownKeySlot, id: { $0.id.description }, label: { $0.label },
                words: { KeyView.kindAndDate($0) })
        } catch var failure as Failure {
            if FileKind(text) == .keyFile {
                failure.hints.insert(
                    "a key file is tried by: vaultctl key test --key-file \(Printable.path(text))", at: 0)
            }
            throw failure
        }
    }
}
