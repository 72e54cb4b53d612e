import ArgumentParser
import Glibc
import TokenVault

struct InitCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a new vault, and a key file for it if there is none yet.",
        discussion: """
            vaultctl init --vault app.vault --key-file app.key

            Without --key-file the vault is opened by a passphrase. Keep a copy of the key apart from the vault and its \
            backups: whoever has both can read everything, and without the key nobody can.
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let path = try access.path
        var reader = SecretReader(invocation.console)
        // Refuse before a key is made that would belong to nothing.
        guard unsafe Glibc.access(path, F_OK) != 0 else {
            throw Failure(
                .usage, code: "vaultExists", "there is already a file at \(Printable.shortened(path, to: 200))",
                hints: ["a vault is never overwritten; choose another --vault"])
        }
        let source = try access.keySource(&reader, isNew: true)
        var madeKeyFile: String?
        if let keyFile = access.keyFile, global.passphrase == nil, global.passphraseFd == nil,
            global.passphraseFile == nil, unsafe Glibc.access(keyFile, F_OK) != 0
        {
            try KeyFiles.generate(at: keyFile)
            madeKeyFile = keyFile
        }
        let vault: Vault
        do {
            vault = try await Vault.create(at: path, unlockedBy: source)
        } catch {
            // A key that opens nothing would only puzzle its finder.
            if let madeKeyFile { unsafe unlink(madeKeyFile) }
            throw error
        }
        let status = try await vault.status()
        await vault.close()
        var facts = Facts()
        facts.add("vault", path)
        facts.add("id", status.vaultID)
        facts.add("key file", madeKeyFile.map { "\($0) (new)" } ?? access.keyFile)
        try invocation.emit(
            json: .object([
                ("vault", .string(path)), ("id", .string(status.vaultID)), ("keyFile", JSONValue(access.keyFile)),
                ("keyFileIsNew", .bool(madeKeyFile != nil)),
            ]),
            facts: facts)
        if madeKeyFile != nil {
            invocation.hint(
                "copy the key file to a safe place apart from the vault: without it nobody can open the vault")
        }
        invocation.hint("next, add a provider: vaultctl provider add NAME --issuer URL --client-id ID")
    }
}
