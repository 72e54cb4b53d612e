extension Reader {
    /// All backups, in the order in which they were begun. A damaged row is listed as such.
    package func backups() throws(StoreError) -> [BackupListing] {
        let row = try tables.cursor(.backups)
        defer { row.reset() }
        row.bind(1, .min)
        row.bind(2, .max)
        var result: [BackupListing] = []
        while try row.step() {
            let handle = row.bytes16(1).map { BackupHandle($0) }
            do throws(StoreError) {
                let record = try BackupRecord(row, opener)
                result.append(BackupListing(record: record, handle: handle, damage: nil))
            } catch {
                guard error.isDamage else { throw error }
                result.append(BackupListing(record: nil, handle: handle, damage: error))
            }
        }
        return result
    }

    /// Logins that a restore holds, in the order of their rows. The query uses plaintext columns alone: they are
    /// authenticated when the login itself is changed.
    ///
    /// - Parameters:
    ///   - provider: nil for logins that only the app can renew.
    ///   - row: ``HeldPage/next`` of the previous page; nil for the first.
    package func heldLogins(of provider: ProviderHandle?, after row: Int64?, limit: Int) throws(StoreError) -> HeldPage
    {
        try heldPage(provider == nil ? .heldLoginsOfApp : .heldLoginsOfProvider, after: row, limit) { rows in
            rows.bind(3, context.incarnation)
            rows.bind(4, VaultContext.firstIncarnation)
            if let provider { rows.bind(5, provider.bytes) }
        }
    }

    /// A page of a query whose first two parameters are the previous row and the maximum number of rows.
    func heldPage(
        _ query: Query, after row: Int64?, _ limit: Int, _ bind: (any RowCursor) -> Void
    ) throws(StoreError) -> HeldPage {
        let limit = limit.asPageLimit
        let rows = try tables.cursor(query)
        defer { rows.reset() }
        rows.bind(1, row ?? .min)
        rows.bind(2, Int64(limit))
        bind(rows)
        var page = HeldPage()
        var count = 0
        while try rows.step() {
            count += 1
            page.next = rows.integer(0)
            if let handle = rows.bytes16(1) { page.logins.append(LoginHandle(handle)) }
        }
        if count < limit { page.next = nil }
        return page
    }

    /// The number of logins of each provider, and how many of them are held; nil is the app. Opens those that are from
    /// before the last restore: of them, the terminated ones are not held, because nothing renews them.
    package func heldCounts() throws(StoreError) -> [ProviderHandle?: (logins: Int, held: Int)] {
        try tables.longReading { () throws(StoreError) in
            var counts = try countHeld()
            for (provider, count) in counts where count.held > 0 {
                counts[provider]?.held -= try terminatedLogins(of: provider)
            }
            return counts
        }
    }

    /// Whether a login is from before the last restore, and was not accepted since.
    package func mayHoldLogins() throws(StoreError) -> Bool {
        try tables.longReading { () throws(StoreError) in try countHeld().contains { $0.value.held > 0 } }
    }

    /// How many of the logins from before the last restore are terminated.
    private func terminatedLogins(of provider: ProviderHandle?) throws(StoreError) -> Int {
        var (count, row) = (0, nil as Int64?)
        repeat {
            if BlockingWork.isCancelled { throw StoreError(.closed, "the count was ended before its end") }
            let page = try heldLogins(of: provider, after: row, limit: 512)
            for login in page.logins {
                do throws(StoreError) {
                    if try self.login(login).session.state == .terminated { count += 1 }
                } catch {
                    guard error.isDamage else { throw error }
                }
            }
            row = page.next
        } while row != nil
        return count
    }

    private func countHeld() throws(StoreError) -> [ProviderHandle?: (logins: Int, held: Int)] {
        var counts: [ProviderHandle?: (logins: Int, held: Int)] = [:]
        let rows = try tables.cursor(.incarnations)
        defer { rows.reset() }
        while try rows.step() {
            let provider = rows.bytes16(0).map { ProviderHandle($0) }
            let isHeld = (VaultContext.firstIncarnation..<context.incarnation).contains(rows.integer(1))
            counts[provider, default: (0, 0)].logins += 1
            if isHeld { counts[provider, default: (0, 0)].held += 1 }
        }
        return counts
    }
}

package struct HeldPage: Sendable {
    package var logins: [LoginHandle] = []
    /// Where the next page begins; nil after the last.
    package var next: Int64?
}

extension VaultContext {
    /// A vault's first incarnation. Logins of an older one are held by their import source, and not by a restore.
    package static let firstIncarnation: Int64 = 1
    /// The incarnation of logins whose chain belongs to the system from which they were imported.
    static let importedIncarnation: Int64 = 0
}

extension Query {
    private static let heldColumns = Table.login.columns("id", "handle")
    private static let isHeld: [Condition] = [
        .greater(Table.login["id"], 1), .less(Table.login["incarnation"], 3), .atLeast(Table.login["incarnation"], 4),
    ]

    fileprivate static let heldLoginsOfProvider = select(
        heldColumns, from: .login, where: isHeld + [.equal(Table.login["provider"], 5)],
        order: [.up(Table.login["id"])], limit: 2)

    fileprivate static let heldLoginsOfApp = select(
        heldColumns, from: .login, where: isHeld + [.isNull(Table.login["provider"])],
        order: [.up(Table.login["id"])], limit: 2)

    fileprivate static let incarnations = select(Table.login.columns("provider", "incarnation"), from: .login)
}
