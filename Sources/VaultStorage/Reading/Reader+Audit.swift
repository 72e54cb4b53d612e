package import VaultCrypto

/// A filter for rows of the trail.
package struct AuditFilter: Sendable, Equatable {
    package var user: UserHandle?
    package var login: LoginHandle?
    /// Rows about the provider itself, or about its logins.
    package var provider: ProviderHandle?
    /// Empty means all kinds.
    package var kinds: Set<AuditKind> = []
    package var since: Timestamp?
    /// Only rows before this time.
    package var until: Timestamp?

    package init() {}
}

/// A row of the trail with its link, and whether it continues the chain.
package struct AuditListing: Sendable {
    package internal(set) var entry: AuditEntry
    /// Nil if the link has the wrong length.
    package let link: AuditMAC?
}

package struct AuditPage: Sendable {
    /// The rows, in the requested order.
    package var rows: [AuditListing] = []
    /// Where the next page begins; nil after the last.
    package var next: Int64?

    package init() {}
}

extension Reader {
    /// The number of rows that are read for one page, whether they match or not.
    private static let mostRows = 4_096

    /// Rows after this one, the oldest first, or before it, the newest first. A row that does not continue the chain is
    /// returned as damaged: every row shown was checked. A page may be short where many rows do not match.
    package func audit(
        _ filter: AuditFilter, _ direction: AuditDirection, limit: Int
    ) throws(StoreError) -> AuditPage {
        let cursor = try tables.cursor(direction.query)
        defer { cursor.reset() }
        cursor.bind(1, direction.start)
        cursor.bind(2, Int64(Self.mostRows) + 1)
        let limit = limit.asPageLimit
        var page = AuditPage()
        var (seen, last) = (0, direction.start)
        var providers: [LoginHandle: ProviderHandle?] = [:]
        while try cursor.step() {
            guard page.rows.count < limit, seen < Self.mostRows else {
                page.next = last
                return page
            }
            seen += 1
            let row = AuditLink(cursor)
            last = row.columns.sequence
            guard wants(row.columns, filter) else { continue }
            var provider: ProviderHandle?
            if let login = row.columns.login { provider = try self.provider(of: login, &providers) }
            // For a login that no longer exists, only the row's cell has the provider.
            if let wanted = filter.provider, row.columns.provider != wanted, provider != wanted {
                guard provider == nil, row.columns.login != nil else { continue }
            }
            var listing = try listing(cursor, row)
            listing.entry.loginProvider = listing.entry.loginProvider ?? provider
            let told = [listing.entry.provider, listing.entry.loginProvider]
            guard filter.provider.map({ told.contains($0) }) ?? true else { continue }
            page.rows.append(listing)
        }
        return page
    }

    /// The provider of an existing login.
    private func provider(
        of login: LoginHandle, _ known: inout [LoginHandle: ProviderHandle?]
    ) throws(StoreError) -> ProviderHandle? {
        if let provider = known[login] { return provider }
        let query = try tables.cursor(.providerOfLogin)
        let provider = try query.withBinding(1, login.bytes) { () throws(StoreError) in
            try query.step() ? query.bytes16(0).map { ProviderHandle($0) } : nil
        }
        known.updateValue(provider, forKey: login)
        return provider
    }

    private func listing(_ cursor: any RowCursor, _ row: AuditLink) throws(StoreError) -> AuditListing {
        var detail = AuditDetail()
        var damage: StoreError?
        if try AuditTrail(opener).isAuthentic(cursor) {
            do throws(StoreError) { detail = try opener.auditDetail(cursor, row.columns) } catch { damage = error }
        } else {
            damage = .quarantined("audit", nil, "it does not continue the chain")
        }
        return AuditListing(entry: AuditEntry(row.columns, detail, link: row.mac, damage), link: row.mac)
    }

    /// Whether a row matches the filter, apart from its provider.
    private func wants(_ row: AuditColumns, _ filter: AuditFilter) -> Bool {
        filter.user.map { $0 == row.user } ?? true && filter.login.map { $0 == row.login } ?? true
            && (filter.kinds.isEmpty || filter.kinds.contains(row.kind))
            && filter.since.map { row.time >= $0 } ?? true && filter.until.map { row.time < $0 } ?? true
    }

    /// How far the trail was pruned.
    package func trailPruning() throws(StoreError) -> TrailPruning {
        try AuditTrail(opener).pruning()
    }

    /// The link of a row; nil if there is no such row.
    package func auditPosition(_ sequence: Int64) throws(StoreError) -> AuditPosition? {
        if sequence == 0 { return AuditPosition(sequence: 0, link: .genesis) }
        let row = try tables.cursor(.auditLink)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step(), let link = unsafe AuditMAC(row.blob(0)) else { return nil }
        return AuditPosition(sequence: sequence, link: link)
    }
}

package enum AuditDirection: Sendable {
    case after(Int64)
    case before(Int64)

    fileprivate var start: Int64 {
        switch self {
        case .after(let start), .before(let start): start
        }
    }

    fileprivate var query: Query {
        switch self {
        case .after: .auditRows
        case .before: .auditRowsBefore
        }
    }
}

extension Query {
    fileprivate static let providerOfLogin = select(
        Table.login.columns("provider"), from: .login, where: [.equal(Table.login["handle"], 1)])
}
