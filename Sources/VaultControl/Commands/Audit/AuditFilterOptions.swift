import ArgumentParser
import FoundationEssentials
import TokenVault

/// Which rows of the audit log are wanted.
struct AuditFilterOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .init("Only rows about this user.", valueName: "id"))
    var user: String?

    @Option(help: .init("The same by the handle in the rows, which outlives the user.", valueName: "handle"))
    var userHandle: String?

    @Option(help: .init("Only rows about this login.", valueName: "id"))
    var login: String?

    @Option(help: .init("Only rows about this provider, and about its logins.", valueName: "name"))
    var provider: String?

    @Option(help: .init("Only rows of this kind, such as token-revealed. May be repeated.", valueName: "kind"))
    var kind: [String] = []

    @Option(help: .init("Only rows from then on: a date such as 2026-11-21T03:15:00Z, or 2h, 30d.", valueName: "when"))
    var since: PointInTime?

    @Option(help: .init("Only rows from before then.", valueName: "when"))
    var until: PointInTime?

    func query(now: Date) throws -> AuditQuery {
        guard user == nil || userHandle == nil else {
            throw Failure.usage("--user and --user-handle cannot be combined", hint: "use only one of them")
        }
        let unknown = Set(kind).subtracting(AuditRecord.kinds).sorted()
        guard unknown.isEmpty else {
            throw Failure.usage(
                "there is no kind of row named \(Printable.shortened(unknown[0]))",
                hint: "the kinds are: \(AuditRecord.kinds.joined(separator: ", "))")
        }
        return AuditQuery(
            userId: user, userHandle: userHandle, login: try login.map { try LoginSelection.id($0) },
            provider: provider, kinds: Set(kind),
            since: since?.date(now: now), until: until?.date(now: now))
    }
}
