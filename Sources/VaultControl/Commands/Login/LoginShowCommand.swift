import ArgumentParser
import TokenVault
import VaultAdministration

struct LoginShowCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a login's state, its renewal and the next step, without its tokens.")

    @OptionGroup var selection: LoginSelection
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let diagnosis = try await VaultAccess(global, invocation).open { vault in
            try await vault.diagnosis(of: try selection.find(in: vault).id)
        }
        try invocation.emit(LoginView.record(diagnosis, now: invocation.now))
    }
}
