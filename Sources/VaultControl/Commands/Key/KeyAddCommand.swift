import ArgumentParser
import Platform
import TokenVault
import VaultAdministration

struct KeyAddCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add another key that opens the vault: a key file, a passphrase, an age recipient or a wrapped key.",
        discussion: """
            vaultctl key add --new-key-file backup.key --label "offline copy"
            vaultctl key add --recipient age1... --label recovery

            A key file that does not exist is created. A recipient is the public half of an age identity: make it with \
            age-keygen on another machine, and keep the identity there. Without these options, vaultctl asks for a new \
            passphrase.

            Prove the new key before you rely on it: vaultctl key test.
            """)

    @Option(help: .init("The key file to add; created if it does not exist.", valueName: "path"), completion: .file())
    var newKeyFile: String?

    @OptionGroup var newPassphrase: SecretOptions<NewPassphraseKind>

    @Option(help: .init("The age recipient, age1..., whose identity should open the vault.", valueName: "age1..."))
    var recipient: String?

    @Option(
        help: .init(
            "The program that wraps the new slot's key, as a JSON array: a key management service, a TPM, clevis.",
            valueName: "json"))
    var newWrapCommand: String?

    @Option(help: .init("A label for the slot.", valueName: "text"))
    var label: String?

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        try requireKeyThatOpens()
        let slot = try await access.open { vault, reader in
            try requireOneKey()
            if let text = newWrapCommand {
                let program = try ProgramArguments.parse(
                    text, "--new-wrap-command", example: ProgramArguments.wrapping)
                let key = KeyInUse(.wrapped(program), from: "--new-wrap-command")
                return try await access.explaining(access.vaultPlace, key) {
                    try await vault.addKeySlot(.wrapped(by: program), label: label ?? "wrapped")
                }
            }
            if let recipient {
                try Failure.requireSingle([recipient], "--recipient")
                return try await vault.addKeySlot(forRecipient: recipient, label: label ?? "recovery")
            }
            let (source, made) = try newKey(&reader, access)
            let key = newKeyFile.map { KeyInUse(.keyFile($0), from: "--new-key-file") }
            do {
                return try await access.explaining(access.vaultPlace, key) {
                    try await vault.addKeySlot(source, label: label ?? (newKeyFile == nil ? "passphrase" : "key file"))
                }
            } catch {
                if let made { NamedFile(made).discard() }
                throw error
            }
        }
        invocation.hint("prove that the key works: vaultctl key test \(slot.id)")
        try invocation.emit(
            KeyView.record(slot), text: invocation.isTerminal ? "added key slot \(slot.id)\n" : "\(slot.id)\n")
    }

    /// `key add --key-file new.key`
    private func requireKeyThatOpens() throws {
        guard let path = global.keyFile, !SecretArguments.mayBeSecret(path), !NamedFile(path).exists,
            newKeyFile == nil, recipient == nil, newWrapCommand == nil, try newPassphrase.source == nil
        else { return }
        throw Failure(
            .keyMissing, "there is no key file at \(Printable.path(path)) (--key-file)",
            hints: ["--key-file names a key that opens the vault already; the one to add: --new-key-file PATH"])
    }

    private func requireOneKey() throws {
        let given = [
            newKeyFile.map { _ in "--new-key-file" }, recipient.map { _ in "--recipient" },
            newWrapCommand.map { _ in "--new-wrap-command" },
            try newPassphrase.source.map { _ in "a new passphrase" },
        ].compactMap(\.self)
        guard given.count <= 1 else {
            throw Failure.usage(
                "\(given[0]) and \(given[1]) cannot be combined", hint: "use only one of them")
        }
    }

    /// The key to add, and its file if this command created it.
    private func newKey(_ reader: inout SecretReader, _ access: VaultAccess) throws -> (KeySource, made: String?) {
        let source = try newPassphrase.source
        if let newKeyFile {
            guard !NamedFile(newKeyFile).exists else { return (.keyFile(newKeyFile), nil) }
            try VaultAccess.makeKeyFile(newKeyFile, "--new-key-file")
            return (.keyFile(newKeyFile), newKeyFile)
        }
        if let source, !reader.prompts(for: source) {
            let passphrase = try reader.read("New passphrase", for: .newPassphrase, from: source)
            try VaultAccess.checkNewPassphrase(passphrase, orFile: "--new-key-file")
            return (.passphrase(Passphrase(passphrase)), nil)
        }
        guard access.invocation.console.inputIsTerminal else {
            throw Failure.usage(
                "no new key specified",
                hint: access.options.wrapCommand == nil
                    ? "use --new-key-file PATH, --recipient age1..., --new-wrap-command JSON or --new-passphrase-file PATH"
                    : "--wrap-command names a key that opens the vault already; the one to add: --new-wrap-command JSON"
            )
        }
        return (.passphrase(Passphrase(try access.newPassphrase(&reader, orFile: "--new-key-file"))), nil)
    }
}
