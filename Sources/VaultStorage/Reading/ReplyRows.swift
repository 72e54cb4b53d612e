import VaultCrypto

/// The rows about a provider that outlast the search for its replies.
package struct ProviderHistory: Sendable {
    /// The row that added the provider, or that last changed its profile; nil if it was pruned.
    package var profileSet: AuditEntry?
    /// The last report that its replies contradict the profile, unless the profile was changed since.
    package var drift: AuditEntry?

    /// The findings of that report, by their names.
    package var findings: [AuditEvent.Detail] { drift?.detail.filter { $0.key != Self.name } ?? [] }

    static let name = "name"
}

/// Finds in the audit trail what providers' replies showed, for a reader or the writer.
struct ReplyRows {
    let tables: any TableAccess
    let opener: RowOpener

    /// The number of rows of the trail that are searched, and the most of one provider.
    private static let searchedRows: Int64 = 100_000
    private static let mostOfOne = 6_000
    private static let mostOfHistory: Int64 = 1_000

    /// What the trail says about replies of these providers, the newest first. Rows that cannot be opened are skipped:
    /// nothing is decided by a single one.
    func entries(
        of wanted: Set<ProviderHandle>, head: Int64
    ) throws(StoreError) -> [ProviderHandle: [AuditEntry]] {
        let row = try tables.cursor(.rowsOfLogins)
        defer { row.reset() }
        row.bind(1, head - Self.searchedRows)
        row.bind(2, head)
        var entries: [ProviderHandle: [AuditEntry]] = [:]
        while try row.step() {
            let columns = AuditColumns(row)
            guard columns.kind.isOfReply, let provider = row.bytes16(10).map({ ProviderHandle($0) }),
                wanted.contains(provider), entries[provider, default: []].count < Self.mostOfOne,
                let detail = try? opener.auditDetail(row, columns)
            else { continue }
            entries[provider, default: []].append(AuditEntry(columns, detail, link: nil, nil))
        }
        return entries
    }

    func history(of provider: ProviderHandle) throws(StoreError) -> ProviderHistory {
        let row = try tables.cursor(.rowsOfProvider)
        row.bind(2, Self.mostOfHistory)
        return try row.withBinding(1, provider.bytes) { () throws(StoreError) in
            var history = ProviderHistory()
            while history.profileSet == nil, try row.step() {
                let columns = AuditColumns(row)
                guard [.providerAdded, .providerUpdated, .providerDrifted].contains(columns.kind),
                    let detail = try? opener.auditDetail(row, columns)
                else { continue }
                let entry = AuditEntry(columns, detail, link: nil, nil)
                if columns.kind == .providerDrifted {
                    history.drift = history.drift ?? entry
                } else if columns.kind == .providerAdded || entry.detail.contains(where: \.isOfProfile) {
                    history.profileSet = entry
                }
            }
            return history
        }
    }
}

extension AuditKind {
    fileprivate var isOfReply: Bool {
        [.loginCreated, .loggedInAgain, .renewed, .renewalFailed, .loginDead].contains(self)
    }
}

extension AuditEvent.Detail {
    fileprivate var isOfProfile: Bool { key == "profile" || key == "profileDocument" }
}

extension Query {
    // Reads from the end of the trail, and each row's provider from its login.
    fileprivate static let rowsOfLogins = select(
        auditColumns + Table.login.columns("provider"), from: .audit,
        joins: [.each(Table.login["handle"], is: Table.audit["login"])],
        where: [.greater(Table.audit["sequence"], 1), .atMost(Table.audit["sequence"], 2)],
        order: [.down(Table.audit["sequence"])])

    fileprivate static let rowsOfProvider = select(
        auditColumns, from: .audit,
        where: [.equal(Table.audit["provider"], 1), .isNotNull(Table.audit["provider"])],
        order: [.down(Table.audit["sequence"])], limit: 2, index: "auditByProvider")
}
