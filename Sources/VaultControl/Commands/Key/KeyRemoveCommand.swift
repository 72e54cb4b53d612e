import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

struct KeyRemoveCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a key slot, so that its key no longer opens the vault.",
        discussion: """
            vaultctl key remove SLOT --proven-by-key-file backup.key

            A working key always remains: the one that opens the vault now, or another one that you prove. Anyone who \
            has the removed key and an old copy of the vault can still open that copy. Anyone who had the key may also have \
            copied the vault key out of the vault; only vaultctl key rekey makes that worthless.
            """)

    @Argument(help: "The slot: its id, the beginning of it, or its label.")
    var slot: String

    @Option(
        help: .init("Prove that this key file, which stays, opens the vault.", valueName: "path"), completion: .file())
    var provenByKeyFile: String?

    @OptionGroup var provenByPassphrase: SecretOptions<ProvenPassphraseKind>

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let removed = try await access.open { vault, reader in
            let proof = try proof(&reader)
            let found = try await removableSlot(of: vault, isProven: proof != nil)
            try confirmation.require(
                "Remove key slot \(found.id) (\(Printable.shortened(found.label)))", invocation)
            let key = try provenKey
            try await access.explaining(access.vaultPlace, key) {
                do {
                    try await vault.removeKeySlot(found.id, provenBy: proof)
                } catch let error as VaultError where error.code == .wrongKey {
                    guard let key else { throw error }
                    let option = provenByKeyFile == nil ? "--passphrase-file" : "--key-file"
                    // The key may still open the vault through the slot being removed.
                    throw Failure(
                        .wrongKey, "\(key.words) opens none of the key slots that would stay",
                        hints: ["list all key slots: vaultctl key list; to try a key: vaultctl key test \(option) PATH"]
                    )
                }
            }
            return found.id
        }
        try invocation.emit(OutputRecord([.data("removed", removed.description)]), text: "")
        invocation.note("removed key slot \(removed)")
        invocation.hint("anyone who had the key may have kept the vault key; to make that useless: vaultctl key rekey")
    }

    /// Reports an impossible removal before it asks any question.
    private func removableSlot(of vault: Vault, isProven: Bool) async throws -> KeySlot {
        let found = try await VaultAccess.keySlot(slot, of: vault)
        let slots = try await vault.keySlots()
        guard slots.count > 1 else {
            throw Failure(
                .inUse, "this is the last key slot: without it, nothing could open the vault",
                hints: ["add another key first: vaultctl key add --new-key-file PATH"])
        }
        guard isProven || vault.openingKeySlot != found.id else {
            throw Failure(
                .inUse, "this is the key that opened the vault, and the command proves no other key",
                hints: [
                    "name the key that stays in the same command: --proven-by-key-file PATH or "
                        + "--proven-by-passphrase-file PATH"
                ])
        }
        return found
    }

    /// The key that stays, as errors name it.
    private var provenKey: KeyInUse? {
        get throws {
            if let provenByKeyFile { return KeyInUse(.keyFile(provenByKeyFile), from: "--proven-by-key-file") }
            return try provenByPassphrase.source.map {
                KeyInUse(.passphrase($0), from: $0.option(ProvenPassphraseKind.option))
            }
        }
    }

    private func proof(_ reader: inout SecretReader) throws -> KeySource? {
        let source = try provenByPassphrase.source
        guard let provenByKeyFile else {
            return try source.map {
                .passphrase(Passphrase(try reader.read("Passphrase that stays", for: .openingVault, from: $0)))
            }
        }
        guard source == nil else {
            throw Failure.usage(
                "--proven-by-key-file and a passphrase cannot be combined", hint: "prove one key; one is enough")
        }
        return .keyFile(provenByKeyFile)
    }
}
