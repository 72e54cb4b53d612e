import TokenVault

/// What became of logins that were ended.
enum RevocationFacts {
    /// Prints the report, and ends with exit code 3 if a provider has not confirmed.
    static func emit(_ report: RevocationReport, done: String, _ invocation: Invocation) throws {
        var table = Table("LOGIN", "AT THE PROVIDER")
        for result in report.results {
            table.append(result.login.description, words(result.outcome))
        }
        try invocation.emit(
            json: .object(
                [
                    ("isComplete", .bool(report.isComplete)), ("revocations", .array(report.results.map(json))),
                ] + (report.remnants.map { [("remnants", json($0))] } ?? [])),
            text: report.results.isEmpty ? "" : table.text(isTerminal: invocation.isTerminal, style: invocation.style))
        invocation.note(done)
        let isGone = tell(report.remnants, invocation)
        let unreadable = report.results.count { $0.outcome == .unreadable }
        if unreadable > 0 {
            invocation.warn(
                "\(Count.of(unreadable, "damaged login")) could not be revoked: what was granted lives on at the provider"
            )
        }
        guard report.results.allSatisfy({ $0.outcome.isSettled || $0.outcome == .unreadable }) else {
            invocation.warn("not every provider has confirmed; the revocations are kept in the vault until they have")
            invocation.hint("try again with: vaultctl outbox retry")
            throw ExitRequest(status: .partlyDone)
        }
        guard report.isComplete, isGone else { throw ExitRequest(status: .partlyDone) }
    }

    /// Gives whether nothing is left.
    private static func tell(_ remnants: RevocationReport.Remnants?, _ invocation: Invocation) -> Bool {
        switch remnants {
        case nil, .gone: return true
        case .held(let processes):
            let who =
                switch processes.count {
                case 0: "another process reads"
                case 1: "process \(processes[0]) reads"
                default: "processes \(processes.map(String.init).joined(separator: ", ")) read"
                }
            invocation.warn(
                "\(who) the vault as it was; until then, the user's sealed rows stay in its write-ahead log")
            invocation.hint("end what reads the vault; they go when the last process closes the vault")
        case .kept(let error):
            invocation.warn("the user's sealed rows stay in the vault's write-ahead log: \(error.message)")
            invocation.hint("they go when the last process closes the vault")
        }
        return false
    }

    private static func json(_ remnants: RevocationReport.Remnants) -> JSONValue {
        let (state, processes, problem): (String, [Int32], JSONValue) =
            switch remnants {
            case .gone: ("gone", [], .null)
            case .held(let processes): ("held", processes, .null)
            case .kept(let error): ("kept", [], .string(error.code.name))
            }
        return .object([
            ("state", .string(state)), ("processes", .array(processes.map { .integer(Int($0)) })), ("problem", problem),
        ])
    }

    static func words(_ outcome: RevocationReport.Outcome) -> String {
        switch outcome {
        case .revoked: "revoked"
        case .nothingToRevoke: "nothing to revoke"
        case .unsupported: "cannot be revoked; lives on until it expires"
        case .pending(let error): "not confirmed yet: \(error.message)"
        case .givenUp: "given up; lives on until it expires"
        case .unreadable: "damaged, could not be revoked; lives on until it expires"
        }
    }

    private static func json(_ result: RevocationReport.Result) -> JSONValue {
        let (word, problem) = json(result.outcome)
        return .object([("login", .string(result.login.description)), ("outcome", word), ("problem", problem)])
    }

    /// The outcome in one word, and the code of what is in its way.
    static func json(_ outcome: RevocationReport.Outcome) -> (JSONValue, JSONValue) {
        switch outcome {
        case .revoked: ("revoked", .null)
        case .nothingToRevoke: ("nothingToRevoke", .null)
        case .unsupported: ("unsupported", .null)
        case .pending(let error): ("pending", .string(error.code.name))
        case .givenUp: ("givenUp", .null)
        case .unreadable: ("unreadable", .null)
        }
    }
}
