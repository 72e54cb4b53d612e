import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

struct AuditExportCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the audit log as JSON lines, without a gap, for another system.",
        discussion: """
            vaultctl audit export --jsonl >>audit.jsonl              from the first row on
            vaultctl audit export --since 4711 --jsonl >>audit.jsonl what came after row 4711

            One JSON document a line, in the order of the rows, with each row's link. Continue after the last row \
            that arrived: no row is missing or repeated. Rows that were pruned before they were exported leave a \
            line {"gap": …} in their place, and exit code 3. A row that was changed is marked as damaged, and the exit \
            code is 4. No line holds a token or a user id.
            """)

    @Option(help: .init("The last row that has been exported before.", valueName: "row"))
    var since: Int64 = 0

    @Flag(help: "Write JSON lines, the only format.")
    var jsonl = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    func validate() throws {
        guard since >= 0 else { throw ValidationError("--since must be the number of a row, or 0") }
    }

    func run(_ invocation: Invocation) async throws {
        // After the parser, which first reports what it does not know.
        guard jsonl || global.json else {
            throw Failure.usage("the export's format is missing", hint: "add --jsonl")
        }
        try await VaultAccess(global, invocation).open { vault in
            let head = try await vault.auditHead()
            guard since <= head else {
                throw Failure(
                    .rollbackSuspected, "the audit log ends at row \(head), before row \(since)",
                    hints: ["find out whether an older state of the vault was put back: vaultctl audit verify"])
            }
            var export = Export(position: since)
            var next: Int64? = since
            while let position = next, position < head {
                try Task.checkCancellation()
                let page = try await vault.auditRecords(after: position, limit: 500)
                for record in page.records where record.sequence <= head {
                    try export.write(record, invocation)
                }
                next = page.next
            }
            try export.end(at: head, prunedThrough: try await vault.auditPrunedThrough(), invocation)
        }
    }

    private struct Export {
        var position: Int64
        var count = 0
        var gaps: [ClosedRange<Int64>] = []
        var hasDamage = false

        mutating func write(_ record: AuditRecord, _ invocation: Invocation) throws {
            if record.sequence > position + 1 {
                let gap = position + 1...record.sequence - 1
                gaps.append(gap)
                let facts: OutputRecord = [.data("first", Int(gap.lowerBound)), .data("through", Int(gap.upperBound))]
                try invocation.console.write(OutputRecord([.data("gap", facts)]).json.text + "\n", to: .output)
            }
            var line = AuditLines.record(record)
            line += [.data("link", record.link.map { Data($0).base64EncodedString() })]
            try invocation.console.write(line.json.text + "\n", to: .output)
            position = record.sequence
            count += 1
            if record.damage != nil { hasDamage = true }
        }

        func end(at head: Int64, prunedThrough: Int64, _ invocation: Invocation) throws {
            invocation.note("\(Count.of(count, "row")) exported; go on later with --since \(max(position, head))")
            // Rows missing beyond the pruned ones were removed by someone else.
            let isUnexplained = gaps.contains { $0.upperBound > prunedThrough }
            if hasDamage || isUnexplained {
                invocation.warn("rows of the audit log were changed or removed")
                invocation.hint("check all of it: vaultctl audit verify")
                throw ExitRequest(status: .damaged)
            }
            guard !gaps.isEmpty else { return }
            let missing = gaps.reduce(0) { $0 + $1.count }
            invocation.warn("\(Count.of(missing, "row")) had been pruned before this export")
            throw ExitRequest(status: .partlyDone)
        }
    }
}
