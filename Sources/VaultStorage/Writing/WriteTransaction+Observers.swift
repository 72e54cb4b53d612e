extension WriteTransaction {
    /// Lets a process deliver to an observer, unless a living one does.
    ///
    /// - Parameters:
    ///   - owner: The process that asks.
    ///   - start: Where an observer begins that the vault does not know.
    ///   - head: Where one begins whose row is damaged: nobody knows how far it had got.
    /// - Returns: The observer; nil if another process delivers to it.
    func claimObserver(
        _ name: String, by owner: Int64, start: String, head: String
    ) throws(StoreError) -> ObserverRecord? {
        var record: ObserverRecord
        do throws(StoreError) {
            record =
                try opener.observer(name)
                ?? ObserverRecord(
                    name: name, cursor: start, incarnation: rows.current.incarnation, owner: ObserverRecord.nobody)
        } catch {
            guard error.isOfRow else { throw error }
            record = ObserverRecord(
                name: name, cursor: head, incarnation: ObserverRecord.unknown, owner: ObserverRecord.nobody)
        }
        if record.owner == owner { return record }
        if record.owner != ObserverRecord.nobody, tables.isOwnerAlive(record.owner) { return nil }
        record.owner = owner
        try put(record)
        return record
    }

    /// Stores how far an observer has got.
    ///
    /// - Parameter owner: The process that delivers.
    /// - Returns: Whether it still does. If not, nothing is stored.
    func advance(_ record: ObserverRecord, by owner: Int64) throws(StoreError) -> Bool {
        do throws(StoreError) {
            guard try opener.observer(record.name)?.owner == owner else { return false }
        } catch {
            guard error.isOfRow else { throw error }
            return false
        }
        try put(record)
        return true
    }

    /// All observers but damaged ones, which stay as they are until their next claim.
    func observers() throws(StoreError) -> [ObserverRecord] {
        let row = try tables.cursor(.observers)
        defer { row.reset() }
        row.bind(1, .min)
        row.bind(2, .max)
        var records: [ObserverRecord] = []
        while try row.step() {
            if let record = try? ObserverRecord(row, opener) { records.append(record) }
        }
        return records
    }

    func put(_ record: ObserverRecord) throws(StoreError) {
        guard record.isWithinLimits else {
            throw StoreError(.invalidValue, "an observer's name or cursor is too long")
        }
        let put = try tables.cursor(.putObserver)
        put.bind(1, record.name)
        put.bind(2, record.cursor)
        put.bind(3, record.incarnation)
        put.bind(4, record.owner)
        put.bind(5, record.mac(context.vaultID, rows.keyring))
        try put.run()
    }
}

extension RowOpener {
    /// The observer of this name; nil if the vault knows none.
    func observer(_ name: String) throws(StoreError) -> ObserverRecord? {
        let row = try tables.cursor(.observer)
        defer { row.reset() }
        row.bind(1, name)
        return try row.step() ? try ObserverRecord(row, self) : nil
    }
}

extension Query {
    fileprivate static let putObserver = insert(
        into: .observer, "name", "cursor", "incarnation", "owner", "mac", onConflict: .updates(by: "name"))
}
