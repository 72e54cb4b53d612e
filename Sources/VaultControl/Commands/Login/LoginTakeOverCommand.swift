import ArgumentParser
import TokenVault

struct LoginTakeOverCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "take-over",
        abstract: "Take over a renewal from a stalled process. Dangerous.",
        discussion: """
            vaultctl login take-over LOGIN

            A process that was stopped in the middle of a renewal keeps it, and the others wait: nobody knows what it will \
            still send. End that process, if you can: then any other takes over at once, and safely.

            If it cannot be ended, this takes the renewal away from it. Should it go on after all, the provider sees the \
            same refresh token twice. Many providers then end every token of the grant, and the user must log in again.
            """)

    @OptionGroup var selection: LoginSelection
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run(_ invocation: Invocation) async throws {
        let diagnosis = try await VaultAccess(global, invocation).manage { users in
            let login = try selection.find(in: users.vault)
            let before = try users.vault.diagnosis(of: login.id)
            let renewal = try Self.renewal(of: before)
            warn(renewal, before, invocation)
            try confirmation.require(typing: "take over", to: "take it from that process", invocation)
            try await users.takeOver(login: login.id)
            return try users.vault.diagnosis(of: login.id)
        }
        try invocation.emit(LoginFacts.sheet(diagnosis, now: invocation.now))
        invocation.note("took over \(LoginFacts.name(diagnosis.login)); it is in doubt now")
    }

    /// The renewal, if it can only be had this way.
    private static func renewal(of diagnosis: LoginDiagnosis) throws(Failure) -> OpenRenewal {
        let id = diagnosis.login.id
        guard let renewal = diagnosis.renewal, renewal.owner != .nobody else {
            throw Failure(
                .usage, code: "nothingToTakeOver", "no process has begun a renewal of this login",
                hints: ["vaultctl login show \(id) tells what comes next"])
        }
        guard renewal.owner != .dead else {
            throw Failure(
                .usage, code: "nothingToTakeOver",
                "the process that renewed this login has ended, so there is no process to take it from",
                hints: ["any call for its token takes over safely, such as: vaultctl login refresh \(id)"])
        }
        return renewal
    }

    private func warn(_ renewal: OpenRenewal, _ diagnosis: LoginDiagnosis, _ invocation: Invocation) {
        let since = Instant.relative(renewal.startedAt, now: invocation.now)
        invocation.warn(
            """
            another process, which lives, began to renew \(LoginFacts.name(diagnosis.login)) \(since). If it goes on after \
            all, the provider sees the same refresh token twice, and may end every token of this login: then the user \
            must log in again. Ending that process instead is safe, and needs no take-over.
            """)
        if diagnosis.nextStep == .waitForRenewal {
            invocation.warn("it has not had longer than a renewal can take: wait, and look again")
        }
    }
}
