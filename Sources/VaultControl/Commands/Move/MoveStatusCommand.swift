import ArgumentParser
import TokenVault
import VaultAdministration

struct MoveStatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether the vault was moved, or is the target of a move.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let state = try await VaultAccess(global, invocation).open { try await $0.moveState() }
        try invocation.emit([
            Field("stage", state?.stage.rawValue), Field("otherVault", state?.otherVault),
            Field("since", state?.since),
        ])
        invocation.note(Self.words(state))
        switch state?.stage {
        case .leaving: invocation.hint("go on: vaultctl move run TARGET; or give it up: vaultctl move abort TARGET")
        case .arriving: invocation.hint("go on, with the other vault as --vault: vaultctl move run TARGET")
        default: break
        }
    }

    private static func words(_ state: MoveState?) -> String {
        switch state?.stage {
        case nil: "the vault is part of no move"
        case .leaving: "the move to the other vault is not known to be complete; the vault is held"
        case .left: "everything was moved to the other vault; this one is held for good"
        case .arriving: "the move from the other vault is not complete; this one accepts no changes yet"
        case .arrived: "everything came from the other vault"
        case .abandoned: "the move from the other vault was given up; discard this one"
        }
    }
}
