import ArgumentParser
import TokenVault
import VaultAdministration

struct LoginTakeOverCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "take-over",
        abstract: "Take over a renewal from a stalled process. Dangerous.",
        discussion: """
            vaultctl login take-over LOGIN

            A process that was stopped in the middle of a renewal keeps it, and the others wait, because the process \
            may still send the token. End that process if you can: another then takes over at once, and safely.

            If it cannot be ended, this takes the renewal away from it. Should it resume after all, the provider sees \
            the same refresh token twice. Many providers then end every token of the grant, and the user must log in \
            again.
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let diagnosis = try await VaultAccess(global, invocation).manage { users in
            let login = try await selection.find(in: users.vault)
            let before = try await users.vault.diagnosis(of: login.id)
            let renewal = try Self.renewal(of: before)
            warn(renewal, before, invocation)
            try confirmation.require(typing: "take over", to: "take over the renewal", invocation)
            try await users.takeOver(.login(login.id))
            return try await users.vault.diagnosis(of: login.id)
        }
        try invocation.emit(LoginView.record(diagnosis, now: invocation.now))
        invocation.note("took over the renewal of \(LoginView.name(diagnosis.login)); it is now in doubt")
    }

    /// The renewal, if taking over is the only way to end it.
    private static func renewal(of diagnosis: LoginDiagnosis) throws(Failure) -> OpenRenewal {
        let id = diagnosis.login.id
        guard let renewal = diagnosis.renewal, renewal.owner != .nobody else {
            throw Failure(
                .usage, code: "nothingToTakeOver", "no process has begun to renew this login",
                hints: ["see the next step: vaultctl login show \(id)"])
        }
        guard renewal.owner != .dead else {
            throw Failure(
                .usage, code: "nothingToTakeOver",
                "the process that renewed this login has ended, so there is no renewal to take over",
                hints: [
                    "any call for its token continues the renewal: vaultctl login refresh \(id)",
                    "its refresh token may be spent: see first: vaultctl login show \(id)",
                ])
        }
        return renewal
    }

    private func warn(_ renewal: OpenRenewal, _ diagnosis: LoginDiagnosis, _ invocation: Invocation) {
        let since = Instant.relative(renewal.startedAt, now: invocation.now)
        invocation.warn(
            """
            another process, which is alive, began to renew \(LoginView.name(diagnosis.login)) \(since). If it resumes \
            after all, the provider sees the same refresh token twice, and may end every token of this login; the user then \
            must log in again. Ending that process instead is safe, and needs no take-over.
            """)
        if diagnosis.nextStep == .waitForRenewal {
            invocation.warn("a renewal can take this long: wait, and check again")
        }
    }
}
