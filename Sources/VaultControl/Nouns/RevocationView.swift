import TokenVault
import VaultAdministration

/// The outcomes of revocations.
enum RevocationView {
    /// Prints the report, and exits with code 3 if a provider has not confirmed.
    ///
    /// - Parameters:
    ///   - facts: further facts for programs.
    ///   - earlier: how many revocations of the same user, of logins that ended before, are not confirmed.
    static func emit(
        _ report: RevocationReport, done: String, adding facts: OutputRecord = [], earlier: Int = 0,
        _ invocation: Invocation
    ) throws {
        let results = report.results.map(record)
        let isComplete = report.isComplete && earlier == 0
        var fields: [Field] = [.data("isComplete", isComplete), .data("revocations", results)]
        if let remnants = report.remnants { fields.append(.data("remnants", record(remnants))) }
        try invocation.emit(
            OutputRecord(fields) + facts, text: invocation.text(Table(["LOGIN", "AT THE PROVIDER"], results)))
        invocation.note(done)
        let isGone = warn(of: report.remnants, invocation)
        let unreadable = report.results.count { $0.outcome == .unreadable }
        if unreadable > 0 {
            invocation.warn(
                "\(Count.of(unreadable, "damaged login")) could not be revoked; the grants stay valid at the provider"
            )
        }
        let unsupported = report.results.count { $0.outcome == .unsupported }
        if unsupported > 0 {
            invocation.warn(
                "\(Count.of(unsupported, "grant")) could not be revoked, because the provider has no way to do that, "
                    + "and \(unsupported == 1 ? "stays" : "stay") valid there")
        }
        if report.results.contains(where: { $0.outcome == .ownedBySource }) {
            invocation.warn(
                "a grant was not revoked, because another system uses it, from which the login was imported or to which "
                    + "it was exported: end it there")
        }
        let isConfirmed = report.results.allSatisfy { $0.outcome.isSettled || $0.outcome == .unreadable }
        if !isConfirmed {
            invocation.warn("not every provider has confirmed; the vault keeps the revocations until they have")
        }
        if earlier > 0 {
            invocation.warn(
                "\(Count.of(earlier, "revocation")) of logins that ended before \(earlier == 1 ? "is" : "are") not "
                    + "confirmed: their tokens stay in the vault until the provider confirms")
        }
        if !isConfirmed || earlier > 0 { invocation.hint("try again: vaultctl outbox retry --all") }
        guard isComplete, isConfirmed, isGone else { throw ExitRequest(status: .partlyDone) }
    }

    /// Warns before logins end while logins are held since a restore: the vault may be a copy of one that is in use.
    ///
    /// - Parameter alone: how to end them here alone; nil if there is no way.
    static func warnOfOriginal(_ vault: Vault, alone: String? = nil, _ invocation: Invocation) async {
        // A damaged row keeps no login from being ended.
        guard (try? await vault.holdsLogins()) == true else { return }
        invocation.warn(
            "logins of this vault are held since a restore or an accepted older state: a login that ends here ends at its "
                + "provider, and so also for the original vault, if that is still in use")
        if let alone { invocation.hint("to leave the grant at the provider alone: \(alone)") }
    }

    /// Returns whether nothing remains.
    private static func warn(of remnants: RevocationReport.Remnants?, _ invocation: Invocation) -> Bool {
        switch remnants {
        case nil, .gone: return true
        case .held(let processes):
            let who =
                switch processes.count {
                case 0: "another process still reads"
                case 1: "process \(processes[0]) still reads"
                default: "processes \(processes.map(String.init).joined(separator: ", ")) still read"
                }
            invocation.warn(
                "\(who) the vault as it was before; meanwhile, the user's sealed rows stay in its write-ahead log")
            invocation.hint("end those processes; the rows are removed when the last process closes the vault")
        case .kept(let error):
            invocation.warn("the user's sealed rows stay in the vault's storage for now: \(error.message)")
            invocation.hint(error.hint ?? "the rows are removed when the last process closes the vault")
        }
        return false
    }

    private static func record(_ remnants: RevocationReport.Remnants) -> OutputRecord {
        let (state, processes, problem): (String, [Int32], String?) =
            switch remnants {
            case .gone: ("gone", [], nil)
            case .held(let processes): ("held", processes, nil)
            case .kept(let error): ("kept", [], error.code.name)
            }
        return [.data("state", state), .data("processes", processes.map { Int($0) }), .data("problem", problem)]
    }

    private static func record(_ result: RevocationReport.Result) -> OutputRecord {
        OutputRecord([Field("login", result.login).column("LOGIN")] + fields(result.outcome))
    }

    /// The outcome in one word, and the code of its obstacle.
    static func fields(_ outcome: RevocationReport.Outcome) -> [Field] {
        let (word, problem): (String, String?) =
            switch outcome {
            case .revoked: ("revoked", nil)
            case .nothingToRevoke: ("nothingToRevoke", nil)
            case .unsupported: ("unsupported", nil)
            case .ownedBySource: ("ownedBySource", nil)
            case .pending(let error): ("pending", error.code.name)
            case .givenUp: ("givenUp", nil)
            case .unreadable: ("unreadable", nil)
            }
        return [
            Field("outcome", word).column("AT THE PROVIDER", words(outcome), inPipe: word), .data("problem", problem),
        ]
    }

    private static func words(_ outcome: RevocationReport.Outcome) -> String {
        switch outcome {
        case .revoked: "revoked"
        case .nothingToRevoke: "nothing to revoke"
        case .unsupported: "cannot be revoked; stays valid until it expires"
        case .ownedBySource: "not revoked: another system uses it, from an import or an export"
        case .pending(let error): "not confirmed yet: \(error.message)"
        case .givenUp: "given up; stays valid until it expires"
        case .unreadable: "damaged, could not be revoked; stays valid until it expires"
        }
    }
}
