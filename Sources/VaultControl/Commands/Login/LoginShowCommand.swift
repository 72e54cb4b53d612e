import ArgumentParser
import TokenVault

struct LoginShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Tell the state of a login in words, without its tokens.")

    @OptionGroup var selection: LoginSelection
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let login = try await VaultAccess(global, invocation).open { try selection.find(in: $0) }
        try invocation.emit(json: LoginFacts.json(login), facts: LoginFacts.facts(login, invocation))
    }
}
