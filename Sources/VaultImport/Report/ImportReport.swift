import FoundationEssentials
import OAuthClient

/// The report on a source as JSON Lines: one line for each row, and a last one with the totals. It never contains a
/// token.
package struct ImportReport {
    /// Whether lines name users and the source's own keys.
    private let showsUsers: Bool

    package init(showsUsers: Bool = false) {
        self.showsUsers = showsUsers
    }

    /// Reads the source to its end and passes on one line after another, without line feeds.
    package func run(
        _ reading: ImportReading, _ write: (String) throws -> Void
    ) async throws -> ImportSummary {
        var outcomes = reading.makeAsyncIterator()
        while let outcome = try await outcomes.next() {
            try write(try line(outcome) { login in try outcomes.fingerprint(of: login) })
        }
        try write(Self.line(outcomes.summary))
        return outcomes.summary
    }

    private func line(_ outcome: RowOutcome, _ fingerprint: (SourceLogin) throws -> String?) throws -> String {
        var line = JSONLine()
        line.add("row", outcome.place.row)
        if let table = outcome.place.table { line.add("table", table) }
        if showsUsers, let key = outcome.place.key { line.add("key", key) }
        line.add("outcome", outcome.name)
        switch outcome {
        case .login(let login), .dead(let login, _): add(login, try fingerprint(login.source), to: &line)
        case .update(let login, let row):
            line.add("of", row)
            add(login, try fingerprint(login.source), to: &line)
        case .duplicate(_, let row): line.add("of", row)
        case .part(_, let whole): line.add("of", whole.row)
        case .registration(let registration):
            line.add("provider", registration.provider)
            line.add("clientId", registration.clientID.rawValue)
        case .rejected(let reject): line.add("reason", reject.reason.name)
        }
        return line.text
    }

    private func add(_ login: PlannedLogin, _ fingerprint: String?, to line: inout JSONLine) {
        line.add("provider", login.provider)
        if showsUsers { line.add("user", login.source.userKey) }
        if let fingerprint { line.add("fingerprint", fingerprint) }
        if let date = login.source.expiresAt {
            line.add("expiresAt", Int((date.timeIntervalSince1970 * 1_000).rounded()))
        }
        if !login.warnings.isEmpty { line.add("warnings", login.warnings.map(\.name)) }
    }

    private static func line(_ summary: ImportSummary) -> String {
        var line = JSONLine()
        line.add("rows", summary.rows)
        line.add("outcomes", summary.outcomes)
        line.add("reasons", Dictionary(uniqueKeysWithValues: summary.reasons.map { ($0.key.name, $0.value) }))
        line.add("warnings", Dictionary(uniqueKeysWithValues: summary.warnings.map { ($0.key.name, $0.value) }))
        line.add("providers", summary.providers)
        if !summary.unknownMembers.isEmpty { line.add("unknownMembers", summary.unknownMembers) }
        return line.text
    }
}
