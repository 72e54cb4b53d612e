import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

struct AuditListCommand: VaultCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show rows of the audit log, the oldest first.",
        discussion: """
            vaultctl audit list                          the last 50 rows
            vaultctl audit list --since 2h               all of the last two hours
            vaultctl audit list --kind tokenRevealed    who took tokens out of the vault, and when
            vaultctl audit list --follow --json          what happens, one JSON document a line

            Each row is checked against the one before it; one that was changed is shown as damaged, and the exit code \
            is 4. Users are shown by their handles. --resolve shows their ids, and is itself recorded in the audit log.
            """)

    @OptionGroup var filter: AuditFilterOptions

    @Option(
        name: [.customShort("n"), .long],
        help: .init("How many of the last rows to show (default: 50; with --since or --all, all).", valueName: "number")
    )
    var last: Int?

    @Flag(help: "Show all rows.")
    var all = false

    @Flag(name: .shortAndLong, help: "Keep running, and show rows as they are written.")
    var follow = false

    @Flag(help: "Show the ids of users. This is recorded in the audit log.")
    var resolve = false

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    private static let mostLast = 100_000
    private static let page = 500

    func validate() throws {
        guard (0...Self.mostLast).contains(last ?? 0) else {
            throw ValidationError("--last must be between 0 and \(Self.mostLast)")
        }
        guard last != 0 || follow else {
            throw ValidationError("--last 0 shows no row: it goes with --follow")
        }
        guard filter.since?.isZero != true || follow else {
            throw ValidationError("--since 0 is now, and lists no row: --all lists all")
        }
        guard last == nil || !all && filter.since == nil else {
            throw ValidationError("--last cannot be combined with --all or --since")
        }
        guard !follow || filter.until == nil else { throw ValidationError("--follow and --until cannot be combined") }
    }

    func run(_ invocation: Invocation) async throws {
        let now = invocation.now
        try filter.check(now: now)
        try await VaultAccess(global, invocation).open { vault in
            let query = try await filter.query(in: vault, now: now)
            let names = resolve ? try await vault.resolveUsers(purpose: "vaultctl audit list") : nil
            var lines = AuditLines(invocation, names)
            let head = try await vault.auditHead()
            var (hasDamage, hasRows) = (false, false)
            if all || filter.since != nil {
                let shown = try await print(vault, query, after: 0, upTo: head, &lines)
                (hasDamage, hasRows) = (shown.hasDamage, shown.hasRows)
            } else {
                let records = try await lastRecords(vault, query, before: head + 1, count: last ?? (follow ? 10 : 50))
                for record in records { try await lines.print(record) }
                hasDamage = records.contains { $0.damage != nil }
                hasRows = !records.isEmpty
            }
            if !hasRows, !follow {
                if let id = query.login, (try? await vault.login(id)) == nil {
                    throw Failure(.unknownLogin, "no login has the id \(id), and no row is about one")
                }
                invocation.note("no row fits")
            }
            if follow { hasDamage = try await self.follow(vault, query, after: head, &lines, invocation) || hasDamage }
            guard hasDamage else { return }
            invocation.warn("rows of the audit log were changed")
            invocation.hint("check all of it: vaultctl audit verify")
            throw ExitRequest(status: .damaged)
        }
    }

    private func lastRecords(
        _ vault: Vault, _ query: AuditQuery, before end: Int64, count: Int
    ) async throws -> [AuditRecord] {
        var records: [AuditRecord] = []
        var next: Int64? = count > 0 ? end : nil
        while let before = next {
            try Task.checkCancellation()
            let page = try await vault.auditRecords(before: before, query, limit: min(count - records.count, Self.page))
            records += page.records
            next = records.count < count ? page.next : nil
        }
        return records.reversed()
    }

    /// Prints rows after `start`. Returns the last row read.
    private func print(
        _ vault: Vault, _ query: AuditQuery, after start: Int64, upTo end: Int64, _ lines: inout AuditLines
    ) async throws -> (end: Int64, hasDamage: Bool, hasRows: Bool) {
        var (hasDamage, hasRows) = (false, false)
        var next: Int64? = start
        while let position = next, position < end {
            try Task.checkCancellation()
            let page = try await vault.auditRecords(after: position, query, limit: Self.page)
            for record in page.records where record.sequence <= end {
                try await lines.print(record)
                hasRows = true
                if record.damage != nil { hasDamage = true }
            }
            next = page.next
        }
        return (end, hasDamage, hasRows)
    }

    private func follow(
        _ vault: Vault, _ query: AuditQuery, after head: Int64, _ lines: inout AuditLines, _ invocation: Invocation
    ) async throws -> Bool {
        var position = head
        var hasDamage = false
        do {
            while !invocation.console.hasLostReader {
                let pruned = try await vault.auditPrunedThrough()
                if pruned > position {
                    invocation.warn("rows up to \(pruned) were pruned before they could be shown")
                }
                let end = try await vault.auditHead()
                let shown = try await print(vault, query, after: position, upTo: end, &lines)
                (position, hasDamage) = (shown.end, hasDamage || shown.hasDamage)
                for _ in 0..<5 where !invocation.console.hasLostReader { try await Task.sleep(for: .milliseconds(200)) }
            }
        } catch is CancellationError {
            // This command ends by being stopped.
        }
        return hasDamage
    }
}
