import ArgumentParser
import TokenVault
import VaultAdministration

struct MoveAbortCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort",
        abstract: "Give up a move that is not complete: the vault renews its logins again.",
        discussion: """
            The target is made unusable first, so that it never becomes complete: discard it. A move that is complete cannot \
            be given up; move back instead, to a new vault.

            With --target-is-lost, the target is not asked. Use it only if the target no longer exists: otherwise the move \
            could still be completed, and both vaults would renew the same logins.
            """)

    @Argument(help: .init("The vault that was to be moved to.", valueName: "target"))
    var target: String?

    @OptionGroup var key: MoveTargetKeyOptions

    @Flag(help: "The target no longer exists.")
    var targetIsLost = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard (target == nil) == targetIsLost else {
            throw ValidationError("specify either the target of the move or --target-is-lost")
        }
    }

    func run(_ invocation: Invocation) async throws {
        let access = VaultAccess(global, invocation)
        if let target {
            let advice = "if it no longer exists: vaultctl move abort --target-is-lost"
            try await access.openBoth(target, key, otherwise: advice) { source, target in
                try confirmation.require("Give up the move, and make its target unusable", invocation)
                try await source.abortMove(to: target)
            }
        } else {
            try await access.open { source in
                try confirmation.require(
                    typing: "lost", to: "give up the move to a vault that no longer exists", invocation)
                try await source.abortMove(to: nil)
            }
        }
        try invocation.emit([.data("isAborted", true)] as OutputRecord, text: "")
        invocation.note("gave up the move; the vault renews its logins again")
        if target != nil { invocation.hint("discard the target: it can no longer be used") }
    }
}
