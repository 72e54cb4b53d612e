import ArgumentParser
import TokenVault

struct UserEraseCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "End all logins of a user and destroy what the vault knows of him.",
        discussion: """
            His key is destroyed, so that nothing of him can be read from this file again. A backup made earlier still \
            holds it, until the root key of that time is retired.
            """)

    @OptionGroup var ending: UserEnding
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        try await ending.run(
            asking: { "Erase user \($0) and \($1)" }, done: "erased", VaultAccess(global, invocation)
        ) { try await $0.eraseUser($1) }
    }
}
