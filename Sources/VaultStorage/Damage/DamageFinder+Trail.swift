import VaultCrypto

/// Unsealed content: rows of the trail that the vault has not written, and the counter of fences.
extension DamageFinder {
    /// Rows of the trail outside of its chain, and the counter if it is damaged. Damage in the chain itself is not
    /// listed here: it can only be removed by pruning.
    func ofTrailAndCounter(limit: Int) throws(StoreError) -> [DamagedRow] {
        var found: [DamagedRow] = []
        if let row = try check(.row(.fenceCounter, id: 1)), found.count < limit { found.append(row) }
        let bounds = try AuditTrail(opener).bounds()
        for start in [Int64.min, bounds.end + 1] {
            try eachRow(of: .audit, from: start) { id throws(StoreError) in
                guard found.count < limit, !bounds.isWithin(id), start > 0 || id <= bounds.end else { return false }
                if let row = try check(.row(.audit, id: id)) { found.append(row) }
                return true
            }
        }
        return found
    }

    /// The current place of the damage. A planted row may have another number by now.
    func place(_ place: DamagedRow.Place) throws(StoreError) -> DamagedRow.Place {
        guard case .row(.audit, let id) = place, id > 0, try checkAudit(id) == nil else { return place }
        return try checkAudit(-id) == nil ? place : .row(.audit, id: -id)
    }

    func checkAudit(_ id: Int64) throws(StoreError) -> DamagedRow? {
        let trail = AuditTrail(opener)
        guard let problem = try trail.problem(ofPlanted: id, trail.bounds()) else { return nil }
        return DamagedRow(
            place: .row(.audit, id: id), handle: nil, damage: .quarantined("audit", nil, problem))
    }

    func checkFences(_ id: Int64) throws(StoreError) -> DamagedRow? {
        guard id == 1 else { return nil }
        let told = try AuditTrail(opener).highestFence()
        guard let problem = WriteTransaction.problem(ofCounter: try tables.highestFence(), told: told) else {
            return nil
        }
        return DamagedRow(
            place: .row(.fenceCounter, id: 1), handle: nil, damage: .quarantined("fenceCounter", nil, problem))
    }

    /// The counter in the form of a row.
    func fenceRows() throws(StoreError) -> [RawRow] {
        let value = RawRow.Value.integer(try tables.highestFence())
        let column = RawRow.Column(name: "highestFence", value: value)
        return [RawRow(table: DamagedRow.Table.fenceCounter.rawValue, columns: [column])]
    }
}
