import ArgumentParser
import TokenVault

struct KeyPinCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Remember on this machine which vault is at this path.",
        discussion: """
            vaultctl key pin --identity recovery.txt

            Anyone can make a vault that the identity of a recipient opens, or the program of a wrapped slot. So such a key \
            opens only a vault that this machine knows by its pin, or that its witness knows. vaultctl init and vaultctl key \
            add write the pin. Run this command on another machine, or after you have moved the vault: only if you are \
            certain that the vault is the one that you mean. It shows where the vault sends codes and tokens.

            A vault that opens by its key file or passphrase is certain to be that vault.
            """)

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let (path, providers) = try await access.openUnpinned { vault in
            let providers = try await vault.providerEntries()
            Self.show(vault, providers, invocation)
            try confirmation.require(typing: "pin", to: "trust this vault from now on", invocation)
            return (try await vault.writePin(), providers.count)
        }
        try invocation.emit([Field("pin", path), .data("providers", providers)])
        invocation.note("identities and wrapping programs open just this vault at this path from now on")
    }

    /// Shows the endpoints that an impostor would have to change.
    private static func show(_ vault: Vault, _ providers: [ProviderEntry], _ invocation: Invocation) {
        for case .provider(let provider) in providers {
            invocation.note(
                "\(Printable.shortened(provider.name)): tokens come from \(provider.tokenEndpoint.rawValue)")
        }
    }
}
