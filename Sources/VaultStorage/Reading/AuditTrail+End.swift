import VaultCrypto

/// The end of the trail. Numbers are in plaintext: a planted row behind the end must stop nothing but itself.
extension AuditTrail {
    /// The limit of believable numbers. Nothing authenticates larger ones, so counting from the end cannot overflow.
    static let limit: Int64 = 1 << 62

    struct End {
        /// The last row that the vault has written, as far as the trail can prove that.
        var position: AuditPosition
        /// Whether rows follow it with numbers that a vault can reach.
        var hasRowsBehind = false
    }

    /// - Parameter known: the end that this process has committed.
    func end(known: AuditPosition? = nil) throws(StoreError) -> End {
        let rows = try tables.cursor(.endOfTrail)
        rows.bind(1, Self.limit)
        defer { rows.reset() }
        guard try rows.step(), rows.integer(0) > 0 else { return End(position: .beginning) }
        let last = AuditLink(rows)
        let position = last.position
        if position == known { return End(position: position) }
        if position.sequence > 1, rows.isNull(9) {
            // Both rows came in one result set.
            if try rows.step() {
                let before = AuditLink(rows).position
                let isNext = before.sequence == position.sequence - 1
                if isNext, try opener.continues(last, before.link) { return End(position: position) }
            }
        } else if try isAuthentic(rows) {
            return End(position: position)
        }
        let believed = try lastBelievedRow()
        return End(position: believed, hasRowsBehind: believed.sequence < position.sequence)
    }

    /// The highest fence of a renewal in the newest rows; 0 if they record none. An attacker cannot forge a row's cell
    /// or put it into another row, so there is no need to follow the chain.
    func highestFence(rowCount: Int = 65_536) throws(StoreError) -> Int64 {
        let rows = try tables.cursor(.auditRowsBefore)
        rows.bind(2, 256)
        var (highest, before, left) = (Int64(0), Self.limit, rowCount)
        while left > 0 {
            rows.bind(1, before)
            defer { rows.reset() }
            let first = before
            while try rows.step(), rows.integer(0) > 0 {
                let row = AuditLink(rows)
                if !rows.isNull(7), let detail = try? opener.auditDetail(rows, row.columns), let fence = detail.fence {
                    highest = max(highest, fence)
                }
                (before, left) = (row.columns.sequence, left - 1)
            }
            if before == first { break }
        }
        return highest
    }

    private func lastBelievedRow() throws(StoreError) -> AuditPosition {
        let rows = try tables.cursor(.auditRowsBefore)
        rows.bind(2, 256)
        var before = Self.limit
        while true {
            rows.bind(1, before)
            defer { rows.reset() }
            let first = before
            while try rows.step(), rows.integer(0) > 0 {
                let row = AuditLink(rows)
                if try isAuthentic(rows) ? true : isVouched(row.columns) { return row.position }
                before = row.columns.sequence
            }
            guard before < first else { break }
        }
        throw .quarantined("audit", nil, "none of its rows continues the chain")
    }

    /// Whether the vault's row, or that of a user, confirms that such a row was written: then it was damaged later, and
    /// not planted. The chain continues from it.
    private func isVouched(_ row: AuditColumns) throws(StoreError) -> Bool {
        if try opener.vaultRow().auditSequence >= row.sequence { return true }
        guard let handle = row.user else { return false }
        let user = try tables.cursor(.userByHandle)
        return try user.withBinding(1, handle.bytes) { () throws(StoreError) in
            guard try user.step(), let columns = try? UserColumns(user), columns.auditSequence == row.sequence else {
                return false
            }
            do throws(StoreError) { try opener.withUser(user, columns) { _ in } } catch {
                guard error.isOfRow else { throw error }
                return false
            }
            return true
        }
    }

    /// The numbers of the rows behind the end, below the limit of believable numbers.
    func rowsBehind(_ end: Int64) throws(StoreError) -> [Int64] {
        let rows = try tables.cursor(.numbersBehind)
        rows.bind(1, end)
        rows.bind(2, Self.limit)
        defer { rows.reset() }
        var numbers: [Int64] = []
        while try rows.step() { numbers.append(rows.integer(0)) }
        return numbers
    }

    /// The problem with a planted row; nil if the row belongs to the trail, damaged or not, or if there is no row.
    func problem(ofPlanted sequence: Int64, _ bounds: Bounds) throws(StoreError) -> String? {
        let row = try tables.cursor(.auditRow)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step() else { return nil }
        if sequence <= 0 { return "no row of the audit trail has such a number: it was planted, or set aside" }
        if sequence > bounds.end { return "it is behind the end of the audit trail: it was planted" }
        guard sequence <= bounds.pruned, try !isAuthentic(row) else { return nil }
        return "the audit trail was pruned, and this is not one of the rows that it left"
    }

    /// The bounds of the unbroken chain, within which no row can be missing.
    struct Bounds {
        var pruned: Int64
        var end: Int64

        func isWithin(_ sequence: Int64) -> Bool { sequence > pruned && sequence <= end }
    }

    func bounds() throws(StoreError) -> Bounds {
        var pruned: Int64 = 0
        do throws(StoreError) { pruned = try pruning().through } catch {
            guard error.isOfRow else { throw error }
        }
        do throws(StoreError) { return Bounds(pruned: pruned, end: try end().position.sequence) } catch {
            guard error.isOfRow else { throw error }
            // A full check reports this. In such a trail, genuine rows cannot be distinguished from planted ones.
            return Bounds(pruned: 0, end: Self.limit)
        }
    }
}

extension AuditLink {
    /// A link of the wrong length counts as none.
    fileprivate var position: AuditPosition { AuditPosition(sequence: columns.sequence, link: mac ?? .genesis) }
}

extension Query {
    /// The last two rows with believable numbers.
    static let endOfTrail = select(
        auditColumns, from: .audit, where: [.less(Table.audit["sequence"], 1)],
        order: [.down(Table.audit["sequence"])], mostRows: 2)

    fileprivate static let numbersBehind = select(
        Table.audit.columns("sequence"), from: .audit,
        where: [.greater(Table.audit["sequence"], 1), .less(Table.audit["sequence"], 2)],
        order: [.up(Table.audit["sequence"])])
}
