import ArgumentParser
import Glibc
import TokenVault

struct KeyAddCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add another key file or passphrase that opens the vault.",
        discussion: """
            vaultctl key add --new-key-file backup.key --label "offline copy"

            A key file that does not exist is created. Without --new-key-file, vaultctl asks for a new passphrase.
            """)

    @Option(help: .init("The key file to add; created if it does not exist.", valueName: "path"), completion: .file())
    var newKeyFile: String?

    @OptionGroup var newPassphrase: SecretOptions<NewPassphraseKind>

    @Option(help: .init("A label for the slot.", valueName: "text"))
    var label: String?

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let slot = try await access.open { vault, reader in
            let (source, made) = try newKey(&reader, access)
            do {
                return try await vault.addKeySlot(
                    source, label: label ?? (newKeyFile == nil ? "passphrase" : "key file"))
            } catch {
                if let made { unsafe unlink(made) }
                throw error
            }
        }
        try invocation.emit(
            KeyFacts.sheet(slot), text: invocation.isTerminal ? "added key slot \(slot.id)\n" : "\(slot.id)\n")
    }

    /// The key to add, and its file if that was made now.
    private func newKey(_ reader: inout SecretReader, _ access: VaultAccess) throws -> (KeySource, made: String?) {
        let source = try newPassphrase.source
        if let newKeyFile {
            guard source == nil else {
                throw Failure.usage(
                    "--new-key-file and a new passphrase cannot be combined", hint: "use only one of them")
            }
            guard unsafe Glibc.access(newKeyFile, F_OK) != 0 else { return (.keyFile(newKeyFile), nil) }
            try KeyFiles.generate(at: newKeyFile)
            return (.keyFile(newKeyFile), newKeyFile)
        }
        if let source {
            return (.passphrase(Passphrase(try reader.read("New passphrase", from: source))), nil)
        }
        guard access.invocation.console.inputIsTerminal else {
            throw Failure.usage("no new key specified", hint: "use --new-key-file PATH or --new-passphrase-file PATH")
        }
        return (.passphrase(Passphrase(try access.newPassphrase(&reader))), nil)
    }
}
