import TokenVault

/// The changes to a provider, before and after, without secrets.
struct ProviderChanges {
    private struct Line {
        let field: String
        let previous: String
        let current: String
    }

    private let update: ProviderUpdate
    private let lines: [Line]

    /// - Parameter namesSecrets: whether the command concerns secrets: then it is news that they are unchanged.
    init(_ update: ProviderUpdate, namesSecrets: Bool) {
        self.update = update
        var lines = update.changes.map { change in
            let isShown = change.previous != nil || change.current != nil
            return Line(
                field: change.field,
                previous: isShown ? change.previous ?? "none" : Self.hidden(change, update.previous),
                current: isShown ? change.current ?? "none" : "changed" + Self.count(change, update.current))
        }
        if namesSecrets, !update.changes.contains(where: { $0.field == "clientSecrets" }) {
            lines.append(Line(field: "clientSecrets", previous: "not shown", current: "unchanged"))
        }
        self.lines = lines
    }

    private static func hidden(_ change: ProviderUpdate.Change, _ provider: Provider) -> String {
        "not shown" + count(change, provider)
    }

    private static func count(_ change: ProviderUpdate.Change, _ provider: Provider) -> String {
        change.field == "clientSecrets" ? " (\(Count.of(provider.clientSecretCount, "secret")))" : ""
    }

    /// For a person. Nothing is cut, because URLs differ at their ends.
    func words(for stream: Console.Stream, _ invocation: Invocation) -> String {
        let style = Style(isRich: invocation.console.isRich(stream))
        return lines.map { line in
            """
            \(style.bold(Field.label(of: line.field)))
              before  \(Printable.escape(line.previous))
              after   \(Printable.escape(line.current))

            """
        }.joined()
    }

    /// The result: an object, lines in a pipe, words on a terminal.
    func emit(_ invocation: Invocation, isWritten: Bool) throws {
        let rows = lines.map { line in
            [line.field, line.previous, line.current].map(Printable.escape).joined(separator: "\t") + "\n"
        }
        try invocation.emit(
            record(isWritten: isWritten),
            text: invocation.isTerminal ? words(for: .output, invocation) : rows.joined())
    }

    private func record(isWritten: Bool) -> OutputRecord {
        let changes = update.changes.map { change -> OutputRecord in
            [
                .data("field", change.field), .data("previous", change.previous), .data("current", change.current),
            ]
        }
        return [
            .data("provider", ProviderView.record(update.current)), .data("isWritten", isWritten),
            .data("changes", changes), .data("orphanedLogins", update.orphanedLogins),
            .data("orphanedRevocations", update.orphanedRevocations),
        ]
    }
}
