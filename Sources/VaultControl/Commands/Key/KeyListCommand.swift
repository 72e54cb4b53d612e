import ArgumentParser
import TokenVault
import VaultAdministration

struct KeyListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the key slots.",
        discussion: """
            PROVEN is when a key was last seen to open the slot: by key test, or by a process that opened the vault with \
            it and changed a provider or a key. With --test, OPENS says which slots the key that you specify opens; \
            nothing is recorded.
            """)

    @Flag(help: "Try the key that opens the vault on every slot.")
    var test = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let records = try await access.openBySource { vault, source in
            let slots = try await vault.keySlots()
            guard test else { return slots.map { KeyView.record($0) } }
            let opened = try await vault.keySlots(openedBy: source)
            return slots.map { KeyView.record($0, opens: opened.contains($0.id)) }
        }
        try invocation.emit("keySlots", records, KeyView.headings + (test ? ["OPENS"] : []))
    }
}
