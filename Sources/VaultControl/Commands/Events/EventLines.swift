import FoundationEssentials
import TokenVault

/// Events as lines: under headings on a terminal, tab-separated in a pipe, one JSON document each with `--json`.
struct EventLines {
    private let invocation: Invocation
    private let style: Style
    private var hasHeadings = false

    init(_ invocation: Invocation) {
        self.invocation = invocation
        style = invocation.style
    }

    mutating func print(_ event: SessionEvent) throws {
        if invocation.isJSON {
            try invocation.console.write(Self.record(event).json.text + "\n", to: .output)
        } else if invocation.isTerminal {
            let isNarrow = invocation.console.width < Self.leastWidth
            let headings = hasHeadings ? "" : style.bold(Self.columns(Self.headings, isNarrow)) + "\n"
            hasHeadings = true
            try invocation.console.write(headings + coloured(event, isNarrow) + "\n", to: .output)
        } else {
            let line = Self.cells(event).map(Printable.escape).joined(separator: "\t")
            try invocation.console.write(line + "\n", to: .output)
        }
    }

    static let headings = ["TIME", "EVENT", "USER", "LOGIN", "GEN", "DETAIL"]
    /// Fixed, because the coming lines are unknown.
    private static let widths = [20, 22, 16, 26, 5, 0]
    /// A row that does not fit in 80 columns gets a second line, so that a login's id stays whole.
    private static let narrowWidths = [20, 22, 34]
    private static let leastWidth = 120

    private static func columns(_ cells: [String], _ isNarrow: Bool) -> String {
        guard isNarrow else { return line(cells, widths) }
        let second = line(Array(cells[3...]), Array(widths[3...]))
        return line(Array(cells[..<3]), narrowWidths) + (second.isEmpty ? "" : "\n  \(second)")
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(cells, widths).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - DisplayWidth.of(cell)))
        }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    private func coloured(_ event: SessionEvent, _ isNarrow: Bool) -> String {
        var cells = Self.cells(event)
        let width = (isNarrow ? Self.narrowWidths : Self.widths)[2]
        cells[2] = DisplayWidth.cut(Printable.shortened(cells[2], to: width), to: width)
        cells[5] = DisplayWidth.cut(Printable.shortened(cells[5], to: 200), to: isNarrow ? 43 : 60)
        let line = Self.columns(cells, isNarrow)
        switch event.kind {
        case .refreshFailed, .error, .providerStopped: return style.red(line)
        case .willExpire, .expired, .refreshTokenWillExpire, .providerDrifted, .missed: return style.yellow(line)
        case .stateChanged(.established), .recovered, .providerResumed: return style.green(line)
        case .updated, .stateChanged, .scopeChanged: return line
        }
    }

    private static func cells(_ event: SessionEvent) -> [String] {
        [
            event.date.formatted(.iso8601), event.kind.name, user(event) ?? "", event.login?.description ?? "",
            event.generation.map { String($0) } ?? "", detail(event),
        ]
    }

    /// The user's id as the vault has it, like in every other command's output.
    private static func user(_ event: SessionEvent) -> String? {
        event.userId.map { event.tenant?.qualify($0) ?? $0 }
    }

    private static func provider(_ name: String, _ event: SessionEvent) -> String {
        event.tenant?.qualify(name) ?? name
    }

    private static func detail(_ event: SessionEvent) -> String {
        let parts = [detail(event.kind, of: event), event.answer.map { "(\($0))" } ?? ""]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func detail(_ kind: SessionEvent.Kind, of event: SessionEvent) -> String {
        switch kind {
        case .willExpire(let date), .refreshTokenWillExpire(let date): "at \(date.formatted(.iso8601))"
        case .expired, .updated, .recovered: ""
        case .stateChanged(let state): state.description
        case .refreshFailed(let failure): failure.reason.description
        case .scopeChanged(let isNarrower): isNarrower ? "narrower" : "wider"
        case .error(let code): code.name
        case .providerStopped(let name, let ended): "\(provider(name, event)), after \(Count.of(ended, "login"))"
        case .providerResumed(let name), .providerDrifted(let name): provider(name, event)
        case .missed(let count): Count.of(count, "event")
        }
    }

    static func record(_ event: SessionEvent) -> OutputRecord {
        let common: OutputRecord = [
            .data("time", event.date), .data("event", event.kind.name), .data("login", event.login),
            .data("user", user(event)), .data("tenant", event.tenant?.name), .data("generation", event.generation),
        ]
        let particular: OutputRecord =
            switch event.kind {
            case .willExpire(let date), .refreshTokenWillExpire(let date): [.data("at", date)]
            case .expired, .updated, .recovered: []
            case .stateChanged(let state):
                [.data("state", StateWords.code(state)), .data("reason", reason(state))]
            case .refreshFailed(let failure): [.data("reason", failure.reason.description)]
            case .scopeChanged(let isNarrower): [.data("isNarrower", isNarrower)]
            case .error(let code): [.data("error", code.name)]
            case .providerStopped(let name, let ended):
                [.data("provider", provider(name, event)), .data("ended", ended)]
            case .providerResumed(let name), .providerDrifted(let name): [.data("provider", provider(name, event))]
            case .missed(let count): [.data("count", count)]
            }
        let further: [Field] =
            (event.answer.map { [.data("answer", $0)] } ?? [])
            + (event.cursor.map { [.data("cursor", $0.description)] } ?? [])
        return common + particular + OutputRecord(further)
    }

    private static func reason(_ state: SessionState) -> String? {
        switch state {
        case .tokenExpired(let failure): failure?.reason.description
        case .terminated(let reason): reason.description
        case .notLoggedIn, .establishing, .established: nil
        }
    }
}
