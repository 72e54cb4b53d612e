import ArgumentParser
import TokenVault
import VaultAdministration

struct MoveStatusCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether the vault was moved, or is the target of a move.")

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let (state, hint) = try await VaultAccess(global, invocation).open { vault in
            (try await vault.moveState(), vault.moveHint)
        }
        try invocation.emit([
            Field("stage", state?.stage.rawValue), Field("otherVault", state?.otherVault),
            Field("since", state?.since),
        ])
        invocation.note(Self.words(state))
        if let hint, state?.stage == .leaving || state?.stage == .arriving { invocation.advise(hint) }
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
