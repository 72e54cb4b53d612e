import ArgumentParser
import TokenVault

struct UserEraseCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "End all of a user's logins, and destroy what the vault knows about the user.",
        discussion: """
            Destroys the user's key, so nothing about the user can be read from this file again. A backup made earlier \
            still holds that key, until the backup's root key is retired.

            What cannot be opened is discarded; exit code 3 then means that grants were left at the provider.
            """)

    @OptionGroup var ending: UserEnding
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        do {
            try await ending.run(
                endsDamaged: true, asking: { "Erase user \($0) and \($1)" }, done: "erased", access
            ) {
                try await $0.eraseUser($1)
            }
        } catch let error as ExitRequest {
            warnOfSnapshots(access, invocation)
            throw error
        }
        warnOfSnapshots(access, invocation)
    }

    private func warnOfSnapshots(_ access: VaultAccess, _ invocation: Invocation) {
        let snapshots = (try? MigrationFacts.status(access).snapshots) ?? []
        guard !snapshots.isEmpty else { return }
        let copies = Count.of(snapshots.count, "copy", plural: "copies")
        invocation.warn(
            "\(copies) of the vault from before a migration may still hold the user: "
                + snapshots.map { Printable.shortened($0.path, to: 200) }.joined(separator: ", ")
                + "; remove them: vaultctl migrate discard")
    }
}
