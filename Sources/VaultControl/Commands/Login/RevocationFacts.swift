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
            json: .object([
                ("isComplete", .bool(report.isComplete)), ("revocations", .array(report.results.map(json))),
            ]),
            text: report.results.isEmpty ? "" : table.text(isTerminal: invocation.isTerminal, style: invocation.style))
        invocation.note(done)
        guard report.isComplete else {
            invocation.warn("not every provider has confirmed; the revocations are kept in the vault until they have")
            throw ExitRequest(status: .partlyDone)
        }
    }

    private static func words(_ outcome: RevocationReport.Outcome) -> String {
        switch outcome {
        case .revoked: "revoked"
        case .nothingToRevoke: "nothing to revoke"
        case .unsupported: "cannot be revoked; lives on until it runs out"
        case .pending(let error): "not confirmed yet: \(error.message)"
        }
    }

    private static func json(_ result: RevocationReport.Result) -> JSONValue {
        let word: JSONValue
        var problem = JSONValue.null
        switch result.outcome {
        case .revoked: word = "revoked"
        case .nothingToRevoke: word = "nothingToRevoke"
        case .unsupported: word = "unsupported"
        case .pending(let error):
            word = "pending"
            problem = .string(error.code.name)
        }
        return .object([("login", .string(result.login.description)), ("outcome", word), ("problem", problem)])
    }
}
