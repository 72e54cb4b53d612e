import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct KeyTestCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Prove that a key opens its slot, and record when.",
        discussion: """
            vaultctl key test SLOT --key-file backup.key
            vaultctl key test SLOT --identity recovery.txt

            The key to prove is the one that you specify. Without SLOT, the slot that it opens is proven. Run it for every \
            key now and then, recovery keys too: a key that does not work is found out too late when it is needed.
            """)

    @Argument(help: "The slot: its id, the beginning of it, or its label.")
    var slot: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let found = try await VaultAccess(global, invocation).openBySource { vault, source in
            let id: KeySlotHandle
            if let slot { id = try await VaultAccess.keySlot(slot, of: vault).id } else { id = vault.openingKeySlot }
            do {
                try await vault.testKeySlot(id, with: source)
            } catch let error as VaultError where error.code == .wrongKey {
                throw Failure(
                    .wrongKey, "the key that you specified opens the vault by another slot, not by \(id)",
                    hints: ["specify the key of that slot: --key-file, --passphrase-file, --identity or --wrap-command"]
                )
            }
            if let reason = vault.readOnlyReason { invocation.warn("the proof is not recorded: \(reason)") }
            return try await VaultAccess.keySlot(id.description, of: vault)
        }
        try invocation.emit(KeyView.record(found), text: "")
        invocation.note("the key opens slot \(KeyView.words(found))")
    }
}
