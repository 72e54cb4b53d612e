import ArgumentParser
import TokenVault
import VaultAdministration

struct KeyRekeyCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Replace the vault key, so that a former one opens nothing of the vault as it is from now on.",
        discussion: """
            vaultctl key rekey --dry-run
            vaultctl key rekey --also-key-file backup.key

            Slots of recipients follow by themselves, and so does the slot that opens the vault now. For any other slot, \
            specify its key; without it, the slot is removed. vaultctl lists first what stays (+) and what goes (-). \
            Services that have the vault open go on, unless their slot is removed.

            Copies of the vault that were made before still open with the keys that they had. Anyone who has opened one also \
            has the root key: vaultctl key rotate replaces that.
            """)

    @Option(
        help: .init("Another key file of the vault, whose slot should stay. Repeatable.", valueName: "path"),
        completion: .file())
    var alsoKeyFile: [String] = []

    @OptionGroup var alsoPassphrase: SecretOptions<AlsoPassphraseKind>

    @Option(
        help: .init(
            """
            The program that unwraps another wrapped key of the vault, as a JSON array; its slot should stay. Repeatable.
            """, valueName: "json"))
    var alsoWrapCommand: [String] = []

    @Flag(help: "Only list the slots that would stay and those that would go.")
    var dryRun = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        let rekeying = try await access.open { vault, reader in
            let keys = try keys(&reader)
            // Each by itself first, so that an error names the right one.
            if keys.count > 1 {
                for key in keys {
                    try await access.explaining(access.vaultPlace, key.named) {
                        _ = try await vault.planRekey(provenBy: [key.source])
                    }
                }
            }
            let plan = try await access.explaining(access.vaultPlace, keys.count == 1 ? keys[0].named : nil) {
                try await vault.planRekey(provenBy: keys.map(\.source))
            }
            if !invocation.isJSON { list(plan, invocation) }
            guard !dryRun else { return plan }
            try confirmation.require(typing: "rekey", to: Self.deed(plan), invocation)
            try await vault.rekey(plan)
            return plan
        }
        let document: OutputRecord = [
            .data("kept", rekeying.kept.map { KeyView.record($0) }),
            .data("dropped", rekeying.dropped.map { KeyView.record($0) }), .data("isWritten", !dryRun),
        ]
        try invocation.emit(document, text: "")
        guard !dryRun else { return }
        invocation.note("replaced the vault key; \(Count.of(rekeying.kept.count, "key slot")) opened it and still do")
        invocation.hint(
            "copies of the vault from before still open with their keys: make a new backup, and destroy them")
    }

    /// The keys whose slots should stay, and how errors name them.
    private func keys(_ reader: inout SecretReader) throws -> [(named: KeyInUse, source: KeySource)] {
        var keys = alsoKeyFile.map {
            (named: KeyInUse(.keyFile($0), from: "--also-key-file"), source: KeySource.keyFile($0))
        }
        for text in alsoWrapCommand {
            let program = try ProgramArguments.parse(text, "--also-wrap-command")
            keys.append((KeyInUse(.wrapped(program), from: "--also-wrap-command"), .wrapped(by: program)))
        }
        if let source = try alsoPassphrase.source {
            let passphrase = Passphrase(try reader.read("Passphrase that stays", for: .openingVault, from: source))
            let named = KeyInUse(.passphrase(source), from: source.option(AlsoPassphraseKind.option))
            keys.append((named, .passphrase(passphrase)))
        }
        return keys
    }

    private func list(_ plan: VaultRekeying, _ invocation: Invocation) {
        for slot in plan.kept { invocation.note("+ \(KeyView.words(slot))") }
        for slot in plan.dropped { invocation.note("- \(KeyView.words(slot))") }
        if !plan.dropped.isEmpty {
            invocation.hint(
                "to keep a slot, specify its key: --also-key-file PATH, --also-passphrase-file PATH or "
                    + "--also-wrap-command JSON")
        }
    }

    private static func deed(_ plan: VaultRekeying) -> String {
        plan.dropped.isEmpty
            ? "replace the vault key"
            : "replace the vault key and remove \(Count.of(plan.dropped.count, "key slot"))"
    }
}
