import FoundationEssentials
import TokenVault
import VaultAdministration

/// Rows of the audit log as lines: under headings on a terminal, tab-separated in a pipe, one JSON document each with
/// `--json`.
struct AuditLines {
    private let invocation: Invocation
    private let style: Style
    /// Nil: users appear as in the rows, as random handles.
    private let names: AuditNames?
    private var known: [String: String?] = [:]
    private var hasHeadings = false

    init(_ invocation: Invocation, _ names: AuditNames?) {
        self.invocation = invocation
        style = invocation.style
        self.names = names
    }

    mutating func print(_ record: AuditRecord) async throws {
        let userId = try await userId(record)
        if invocation.isJSON {
            var record = Self.record(record)
            if names != nil { record += [.data("userId", userId)] }
            try invocation.console.write(record.json.text + "\n", to: .output)
            return
        }
        let cells = Self.cells(record, userId)
        guard invocation.isTerminal else {
            try invocation.console.write(cells.map(Printable.escape).joined(separator: "\t") + "\n", to: .output)
            return
        }
        let isWide = invocation.console.width >= Self.leastWidth
        let headings = hasHeadings || !isWide ? "" : style.bold(Self.columns(Self.headings)) + "\n"
        hasHeadings = true
        var shown = cells
        shown[3] = Printable.shortened(shown[3], to: Self.widths[3])
        shown[5] = Printable.shortened(shown[5], to: Self.widths[5])
        let isNarrow = invocation.console.width < Self.leastWidth
        shown[6] = Printable.shortened(shown[6], to: isNarrow ? max(16, invocation.console.width - 2) : 80)
        let line = isNarrow ? Self.lines(shown) : Self.columns(shown)
        try invocation.console.write(
            headings + (record.damage == nil ? line : style.red(line)) + "\n", to: .output)
    }

    private mutating func userId(_ record: AuditRecord) async throws -> String? {
        guard let names, let handle = record.userHandle else { return nil }
        if let name = known[handle] { return name }
        let name = try await names.userId(of: handle)
        if known.count >= 10_000 { known = [:] }
        known[handle] = .some(name)
        return name
    }

    private static let headings = ["TIME", "ROW", "KIND", "USER", "LOGIN", "PROVIDER", "DETAIL"]
    /// Fixed, because the coming lines are unknown.
    private static let widths = [20, 8, 20, 26, 26, 12, 0]

    private static let leastWidth = 140

    /// On a narrow terminal: time, row and kind in the first line, and user, login and provider below.
    private static func lines(_ cells: [String]) -> String {
        let whom = [cells[3], cells[4], cells[5]].filter { !$0.isEmpty }
        return
            (["\(cells[0])  \(cells[1])  \(cells[2])"] + (whom.isEmpty ? [] : ["  " + whom.joined(separator: "  ")])
            + (cells[6].isEmpty ? [] : ["  " + cells[6]])).joined(separator: "\n")
    }

    private static func columns(_ cells: [String]) -> String {
        var line = zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count))
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func cells(_ record: AuditRecord, _ userId: String?) -> [String] {
        [
            record.date.formatted(.iso8601), String(record.sequence), record.kind, userId ?? record.userHandle ?? "",
            record.login?.description ?? "", record.provider ?? "", detail(record),
        ]
    }

    private static func detail(_ record: AuditRecord) -> String {
        if let damage = record.damage { return "damaged: \(damage)" }
        var parts = record.details.map { "\($0.name)=\(Printable.unqualified($0.value))" }
        if let pruning = record.pruning {
            let removed = Count.of(Int(pruning.removed), "row")
            parts.append("\(removed) of \(pruning.first)–\(pruning.through) removed")
        }
        if let generation = record.generation, !record.details.contains(where: { $0.name == "generation" }) {
            parts.append("generation=\(generation)")
        }
        if let actor = record.actor {
            parts.append("by \(actor.name ?? "uid \(actor.uid)")@\(actor.host) (\(actor.tool))")
        }
        return parts.joined(separator: " ")
    }

    private static func record(_ actor: VaultOptions.Actor) -> OutputRecord {
        [
            .data("uid", actor.uid), .data("name", actor.name), .data("host", actor.host), .data("tool", actor.tool),
        ]
    }

    static func record(_ record: AuditRecord) -> OutputRecord {
        var line: OutputRecord = [
            .data("sequence", Int(record.sequence)), .data("time", record.date), .data("kind", record.kind),
            .data("user", record.userHandle), .data("login", record.login), .data("provider", record.provider),
            .data("revision", record.revision.map { Int($0) }),
            .data(
                "details",
                record.details.map { detail -> OutputRecord in
                    [.data("name", detail.name), .data("value", detail.value)]
                }),
            .data("actor", record.actor.map { Self.record($0) }),
            .data("state", record.state.map { StateWords.code($0) }),
            .data("generation", record.generation.map { Int($0) }),
        ]
        if let pruning = record.pruning {
            let facts: OutputRecord = [
                .data("first", Int(pruning.first)), .data("through", Int(pruning.through)),
                .data("removed", Int(pruning.removed)), .data("kept", Int(pruning.kept)),
            ]
            line += [.data("pruned", facts)]
        }
        if let damage = record.damage { line += [.data("damaged", damage)] }
        return line
    }
}
