import TokenVault
import VaultImport

/// How imports are displayed.
enum ImportRecords {
    static func record(_ row: ImportedRow, _ fingerprint: String?, showsUsers: Bool) -> OutputRecord {
        let login = planned(row)
        var record: OutputRecord = [
            .data("row", row.place.row), .data("table", row.place.table),
            .data("outcome", row.outcome.name),
        ]
        if case .rejected(let reason) = row.outcome {
            record += [.data("reason", reason.name), .data("problem", reason.message)]
        }
        record += [
            .data("provider", login?.provider), .data("login", row.login?.description),
            .data("fingerprint", fingerprint), .data("warnings", login?.warnings.map(\.name) ?? []),
        ]
        if showsUsers { record += [.data("user", login?.source.userKey), .data("key", row.place.key)] }
        return record
    }

    private static func planned(_ row: ImportedRow) -> PlannedLogin? {
        switch row.row {
        case .login(let login), .update(let login, _), .dead(let login, _): login
        case .duplicate, .registration, .part, .rejected: nil
        }
    }

    /// The result of a whole pass.
    static func record(_ result: ImportResult, of source: ImportSource, name: String) -> OutputRecord {
        let outcomes = ImportedRow.Outcome.names.map { ($0, result.outcomes[$0] ?? 0) }
        let reasons = result.reasons.map { ($0.key, $0.value) }.sorted { $0.0.name < $1.0.name }
        var record: OutputRecord = [
            Field("source", name), Field("kind", source.detection.kind.name),
            Field("format", source.detection.format.rawValue), Field("rows", result.rows),
            .data("outcomes", OutputRecord(outcomes.map { .data($0.0, $0.1) })),
            .data("reasons", OutputRecord(reasons.map { .data($0.0.name, $0.1) })),
            .data("missing", result.missing),
            .data(
                "warnings",
                OutputRecord(
                    (result.reading?.warnings ?? [:]).sorted { $0.key.name < $1.key.name }.map {
                        .data($0.key.name, $0.value)
                    })),
            .data(
                "providers",
                OutputRecord(
                    (result.reading?.providers ?? [:]).sorted { $0.key < $1.key }.map { .data($0.key, $0.value) })),
            .data("unknownMembers", result.reading?.unknownMembers ?? []),
            .data("unreadColumns", source.detection.unreadColumns),
            .data(
                "missingProviders",
                result.missingProviders.prefix(100).map { provider -> OutputRecord in
                    [
                        .data("provider", provider.name), .data("rows", provider.rows),
                        .data("clientId", provider.clientID?.rawValue),
                    ]
                }),
            .data("superseded", result.superseded),
        ]
        for (outcome, count) in outcomes where count > 0 && outcome != "rejected" {
            record += [.line(words(ofOutcome: outcome), count)]
        }
        for (reason, count) in reasons { record += [.line("rejected", "\(count): \(reason.message)")] }
        for (warning, count) in (result.reading?.warnings ?? [:]).sorted(by: { $0.key.name < $1.key.name }) {
            record += [.line("warning", "\(count): \(warning.message)")]
        }
        if let names = result.reading?.unknownMembers, !names.isEmpty {
            record += [.line("not known", names.map { Printable.shortened($0) }.joined(separator: ", "))]
        }
        if let missing = result.missing, missing > 0 {
            record += [.line("missing", "\(Count.of(missing, "login")) of the vault that the source no longer has")]
        }
        return record
    }

    private static func words(ofOutcome name: String) -> String {
        name == "renewedBySource" ? "renewed by the source, too" : name
    }

    static let statusHeadings = ["SOURCE", "PROVIDER", "HELD", "ACCEPTED", "CONTESTED", "MISSING", "DEAD", "LAST READ"]

    static func record(_ status: ImportStatus) -> OutputRecord {
        [
            Field("source", status.source).column("SOURCE"),
            Field("provider", status.provider).column(
                "PROVIDER", status.provider ?? "(removed)", inPipe: status.provider),
            Field("held", status.held).column("HELD"), Field("accepted", status.accepted).column("ACCEPTED"),
            Field("contested", status.contested).column("CONTESTED"),
            Field("missing", status.missing).column("MISSING"),
            Field("dead", status.dead).column("DEAD"), Field("lastReading", status.lastReading).column("LAST READ"),
            .data("changes", status.changes),
            .data("changesPerHour", status.changesPerHour.map { Int($0.rounded()) }),
        ]
    }
}
