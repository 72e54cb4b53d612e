import ArgumentParser
import FoundationEssentials
import TokenVault
import VaultAdministration

/// The rows of the audit log to show.
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

    @Option(help: .init("Only rows of this kind, such as tokenRevealed. May be repeated.", valueName: "kind"))
    var kind: [String] = []

    @Option(
        help: .init(
            "Only rows from then on: 2h or 30d ago, or a date such as 2026-11-25, yesterday.", valueName: "when"))
    var since: PointInTime?

    @Option(help: .init("Only rows from before then.", valueName: "when"))
    var until: PointInTime?

    /// Refuses impossible values before anything is opened.
    func check(now: Date) throws(Failure) {
        if let login { try LoginSelection.check(login) }
        guard tenant.tenant == nil || user != nil || provider != nil else {
            throw .usage(
                "--tenant needs --user or --provider", hint: "rows of all of a tenant's users cannot be chosen")
        }
        _ = try period(now)
        guard user == nil || userHandle == nil else {
            throw .usage("--user and --user-handle cannot be combined", hint: "use only one of them")
        }
        let unknown = Set(kind).subtracting(AuditRecord.kinds).sorted()
        guard unknown.isEmpty else {
            let parts = unknown[0].split(separator: ",")
            let near = parts.count > 1 ? [] : Self.kinds(like: unknown[0])
            guard parts.count < 2 else {
                throw .usage(
                    "there is no kind of row named \(Printable.named(unknown[0]))",
                    hint: "repeat the option for each: "
                        + parts.prefix(4).map { "--kind \(Printable.shortened(String($0)))" }.joined(separator: " "))
            }
            throw .usage(
                "there is no kind of row named \(Printable.named(unknown[0]))",
                hint: near.isEmpty
                    ? "the kinds are: \(AuditRecord.kinds.joined(separator: ", "))"
                    : "did you mean: " + near.map { "--kind \($0)" }.joined(separator: ", or "))
        }
    }

    /// `token_revealed`, `TokenRevealed`, `revealed`, `token-reveald`.
    private static func kinds(like typed: String) -> [String] {
        let bare = { (text: String) in text.lowercased().filter { $0.isLetter } }
        let word = bare(typed)
        let same = AuditRecord.kinds.filter { bare($0) == word }
        guard same.isEmpty, word.count > 3 else { return same }
        let near = AuditRecord.kinds.filter { EditDistance.between(bare($0), word) <= 2 }
        return near.isEmpty ? Array(AuditRecord.kinds.filter { bare($0).contains(word) }.prefix(4)) : near
    }

    /// Of a login that was removed only the log knows, by its whole id.
    private static func login(_ text: String, in vault: Vault) async throws -> LoginID {
        do { return try await LoginSelection.id(text, in: vault) } catch var failure as Failure {
            if failure.code == VaultError.Code.unknownLogin.name {
                failure.hints.insert(
                    "a login that was removed is found by its whole id, of 26 letters and digits", at: 0)
            }
            throw failure
        }
    }

    func query(in vault: Vault, now: Date) async throws -> AuditQuery {
        let (from, end) = try period(now)
        let login: LoginID? = if let login { try await Self.login(login, in: vault) } else { nil }
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
