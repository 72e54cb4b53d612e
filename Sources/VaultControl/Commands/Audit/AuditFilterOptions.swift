import ArgumentParser
import FoundationEssentials
import TokenVault

/// Which rows of the audit log are wanted.
struct AuditFilterOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .init("Only rows about this user.", valueName: "id"))
    var user: String?

    @OptionGroup var tenant: TenantOption

    @Option(help: .init("The same by the handle in the rows, which outlives the user.", valueName: "handle"))
    var userHandle: String?

    @Option(help: .init("Only rows about this login.", valueName: "id"))
    var login: String?

    @Option(help: .init("Only rows about this provider, and about its logins.", valueName: "name"))
    var provider: String?

    @Option(help: .init("Only rows of this kind, such as token-revealed. May be repeated.", valueName: "kind"))
    var kind: [String] = []

    @Option(
        help: .init(
            "Only rows from then on: 2h or 30d ago, or a date such as 2026-11-25, yesterday.", valueName: "when"))
    var since: PointInTime?

    @Option(help: .init("Only rows from before then.", valueName: "when"))
    var until: PointInTime?

    /// Refuses what cannot be, before anything is opened.
    func check(now: Date) throws(Failure) {
        if let login { try LoginSelection.check(login) }
        _ = try period(now)
        guard user == nil || userHandle == nil else {
            throw .usage("--user and --user-handle cannot be combined", hint: "use only one of them")
        }
        let unknown = Set(kind).subtracting(AuditRecord.kinds).sorted()
        guard unknown.isEmpty else {
            throw .usage(
                "there is no kind of row named \(Printable.shortened(unknown[0]))",
                hint: "the kinds are: \(AuditRecord.kinds.joined(separator: ", "))")
        }
    }

    func query(in vault: Vault, now: Date) async throws -> AuditQuery {
        let (from, end) = try period(now)
        let login: LoginID? = if let login { try await LoginSelection.id(login, in: vault) } else { nil }
        return AuditQuery(
            userId: user.map { tenant.user($0) }, userHandle: userHandle, login: login,
            provider: provider.map { tenant.provider($0) },
            kinds: Set(kind), since: from, until: end)
    }

    private func period(_ now: Date) throws(Failure) -> (from: Date?, end: Date?) {
        let (from, end) = (since?.date(now: now), until?.date(now: now))
        if let from, let end, from >= end {
            throw .usage(
                "--since (\(from.formatted(.iso8601))) is not before --until (\(end.formatted(.iso8601)))",
                hint: "no row could be listed; a length of time is counted back from now: --since 3h --until 2h")
        }
        if let from, from > now {
            throw .usage(
                "--since (\(from.formatted(.iso8601))) is in the future",
                hint: "no row could be listed; a length of time is counted back from now: --since 2h")
        }
        return (from, end)
    }
}
